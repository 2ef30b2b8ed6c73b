// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Read and write files of links. */
#define _GNU_SOURCE
#include "conf.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tern.h"

#define SUFFIX		".conf"
#define SECTION		"[Link]"

/* ---- names ------------------------------------------------------------------------ */

/* the kernel takes "%d" as a pattern; the rest cannot be typed, or is a path */
static bool good_name(const char *name, size_t size)
{
	const char *c;

	if (!*name || *name == '.' || strlen(name) >= size)
		return false;
	for (c = name; *c; c++)
		if (!isgraph((unsigned char)*c) || strchr("/%:", *c))
			return false;
	return true;
}

bool conf_find(struct conf *conf, const char *word)
{
	const char *base = strrchr(word, '/');
	size_t len;

	memset(conf, 0, sizeof(*conf));
	base = base ? base + 1 : word;
	len = strlen(base);
	if (base != word && len > strlen(SUFFIX) &&
	    !strcmp(base + len - strlen(SUFFIX), SUFFIX))
		len -= strlen(SUFFIX);
	if (len < sizeof(conf->name))
		memcpy(conf->name, base, len);
	if (!good_name(conf->name, sizeof(conf->name)) || strlen(word) >= PATH_MAX) {
		complain("'%.100s' is no name of a link", base);
		return false;
	}
	if (base != word)
		snprintf(conf->file, sizeof(conf->file), "%s", word);
	else
		snprintf(conf->file, sizeof(conf->file), CONF_DIR "/%s" SUFFIX, conf->name);
	return true;
}

/* ---- reading ------------------------------------------------------------------------ */

/**
 * struct reader - a file that is read
 * @conf: result
 * @in_section: the line [Link] was there
 * @why: what is wrong with a line
 */
struct reader {
	struct conf *conf;
	bool in_section;
	char why[512];
};

static bool wrong(struct reader *r, const char *why)
{
	snprintf(r->why, sizeof(r->why), "%s", why);
	return false;
}

/* without blanks at both ends */
static char *trim(char *s)
{
	char *end = s + strlen(s);

	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

static bool read_section(struct reader *r, const char *line)
{
	if (strcasecmp(line, SECTION))
		return wrong(r, "the only section is " SECTION);
	if (r->in_section)
		return wrong(r, "a file describes one link: " SECTION " is there twice");
	r->in_section = true;
	return true;
}

static bool read_netdev(struct reader *r, const char *value)
{
	if (*r->conf->netdev)
		return wrong(r, "netdev is there twice");
	if (!good_name(value, sizeof(r->conf->netdev))) {
		snprintf(r->why, sizeof(r->why), "'%.80s' is no name of a netdev", value);
		return false;
	}
	memcpy(r->conf->netdev, value, strlen(value) + 1);
	return true;
}

static bool read_line(struct reader *r, char *line)
{
	char *key, *value;

	line[strcspn(line, "#;")] = '\0';
	key = trim(line);
	if (!*key)
		return true;
	if (*key == '[')
		return read_section(r, key);
	value = strchr(key, '=');
	if (!value)
		return wrong(r, "neither a section nor NAME = VALUE");
	*value++ = '\0';
	key = trim(key);
	value = trim(value);
	if (!r->in_section)
		return wrong(r, SECTION " is missing before this line");
	if (!*value)
		return wrong(r, "the value is missing");
	if (!strcasecmp(key, "netdev"))
		return read_netdev(r, value);
	return settings_parse(&r->conf->settings, key, value, r->why, sizeof(r->why));
}

/* Return: number of the wrong line, 0 without one */
static unsigned int read_lines(struct reader *r, FILE *f)
{
	unsigned int nr = 0;
	char *line = NULL;
	bool good = true;
	size_t size = 0;
	ssize_t len;

	while (good && (len = getline(&line, &size, f)) >= 0) {
		nr++;
		if (strlen(line) != (size_t)len)
			good = wrong(r, "a byte of the line is 0");
		else
			good = read_line(r, line);
	}
	free(line);
	return good ? 0 : nr;
}

bool conf_read(struct conf *conf)
{
	struct reader r = { .conf = conf };
	FILE *f = fopen(conf->file, "re");
	unsigned int nr;
	int error;

	if (!f) {
		complain("%s: %s", conf->file, strerror(errno));
		return false;
	}
	errno = 0;
	nr = read_lines(&r, f);
	error = ferror(f) ? errno : 0;
	fclose(f);
	if (nr)
		complain("%s:%u: %s", conf->file, nr, r.why);
	else if (error)
		complain("%s: %s", conf->file, strerror(error));
	else if (!*conf->netdev)
		complain("%s: netdev is missing", conf->file);
	return !nr && !error && *conf->netdev;
}

/* ---- writing ------------------------------------------------------------------------ */

void conf_print(FILE *to, const struct device *dev)
{
	fprintf(to, SECTION "\nnetdev = %s\n", dev->netdev);
	settings_print(&dev->settings, to, "", 0, " = ");
}

/* whatever happens, the file is the old one or the new one */
static bool write_file(const char *file, const struct device *dev)
{
	char temp[PATH_MAX];
	FILE *f;
	int fd;

	snprintf(temp, sizeof(temp), CONF_DIR "/.%sXXXXXX", dev->name);
	fd = mkostemp(temp, O_CLOEXEC);
	f = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!f)
		return false;
	conf_print(f, dev);
	if (!fflush(f) && !fchmod(fd, 0644) && !fsync(fd) && !rename(temp, file))
		return !fclose(f);
	fclose(f);
	unlink(temp);
	return false;
}

/* the directory, and the one above it */
static bool make_directories(void)
{
	char path[] = CONF_DIR, *end;

	for (end = path + 1; (end = strchr(end, '/')); *end++ = '/') {
		*end = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			return false;
	}
	return !mkdir(path, 0755) || errno == EEXIST;
}

bool conf_save(const struct device *dev)
{
	struct conf conf;

	if (!conf_find(&conf, dev->name))
		return false;
	/* what would be read back as another name */
	if (!good_name(dev->netdev, sizeof(dev->netdev)) || strpbrk(dev->netdev, "#;?")) {
		complain("%s: netdev '%s' has no name for a file", dev->name, dev->netdev);
		return false;
	}
	if (make_directories() && write_file(conf.file, dev))
		return true;
	complain("%s: %s", conf.file, strerror(errno));
	return false;
}

/* ---- all of them -------------------------------------------------------------------- */

static int is_conf(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && len > strlen(SUFFIX) &&
	       !strcmp(entry->d_name + len - strlen(SUFFIX), SUFFIX);
}

int conf_each(int (*fn)(const char *name, void *arg), void *arg)
{
	struct dirent **entries;
	int n, i, status = DONE;

	n = scandir(CONF_DIR, &entries, is_conf, alphasort);
	if (n < 0 && errno != ENOENT) {
		complain(CONF_DIR ": %s", strerror(errno));
		return FAILED;
	}
	for (i = 0; i < n; i++) {
		entries[i]->d_name[strlen(entries[i]->d_name) - strlen(SUFFIX)] = '\0';
		if (fn(entries[i]->d_name, arg) != DONE)
			status = FAILED;
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return status;
}
