# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Draws the pictures of report from the files of report.py, in the current folder.

set terminal svg size 900,380 font "sans,12" background "white"
set grid ytics lc rgb "#dddddd"
set style data linespoints
# the key of all panels is the last of them
names_only = "unset title; unset border; unset tics; unset xlabel; set key left center; \
	plot [1:2] [1:2] for [i=1:shown] NaN lt i title names[i]"
array names[7] = ["tern", "tern, no CRC", "tern, short FPDUs", \
	"siw, CRC", "siw, no CRC", "rxe", "TCP"]
set linetype 1 lc rgb "#0b5fa5" lw 2 pt 7 ps 0.5
set linetype 2 lc rgb "#5aa9e6" lw 2 pt 7 ps 0.5
set linetype 3 lc rgb "#7fc97f" lw 2 pt 7 ps 0.5
set linetype 4 lc rgb "#c0392b" lw 2 pt 5 ps 0.5
set linetype 5 lc rgb "#e59866" lw 2 pt 5 ps 0.5
set linetype 6 lc rgb "#8e44ad" lw 2 pt 9 ps 0.5
set linetype 7 lc rgb "#555555" lw 2 pt 11 ps 0.5

shown = 7
set output "performance-bandwidth.svg"
set multiplot layout 1,4
unset key
set logscale x 2
unset mxtics
set logscale y 10
set mytics 1
set xrange [48:12e6]
set xlabel "bytes of a message"
set ylabel "MiB/s at 1000 million instructions a second"
set xtics ("64" 64, "1K" 1024, "16K" 16384, "256K" 262144, "4M" 4194304)
do for [kind in "write send read"] {
	set title kind
	plot for [i=1:shown] sprintf("size-%s.dat", kind) using 1:(column(i + 1)) lt i title names[i]
	unset ylabel
}
@names_only
unset multiplot

shown = 6
set output "performance-rate.svg"
set multiplot layout 1,3
set border
set tics
unset key
set xtics (1, 2, 4, 8, 16, 32, 64)
set xrange [0.9:72]
set xlabel "requests of 64 bytes by a call"
set ylabel "1000 messages/s at 1000 million instructions a second"
do for [kind in "write send"] {
	set title kind
	plot for [i=1:shown] sprintf("list-%s.dat", kind) using 1:(column(i + 1)) lt i title names[i]
	unset ylabel
}
@names_only
unset multiplot

set output "performance-layers.svg"
set multiplot layout 1,3
unset logscale
set xrange [*:*]
set border
set tics
set ylabel "1000 instructions of a message, both ends"
set style data histograms
set style histogram rowstacked
set style fill solid border lc rgb "white"
set boxwidth 0.8
set key at screen 0.98, screen 0.97 right top horizontal
set xtics autofreq font "sans,11" rotate by -45 nomirror
set tmargin 3
set bmargin 7
do for [i=1:3] {
	file = sprintf("layers-%d.dat", i)
	plot file using 2:xtic(1) lc rgb "#0b5fa5" title "driver", \
		file using 3 lc rgb "#aaaaaa" title "kernel", \
		file using 4 lc rgb "#e0a030" title "CRC", \
		file using 5 lc rgb "#7fc97f" title "program"
	unset key
	unset ylabel
}
unset multiplot
