# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Connect the RC QPs of rdma-core's pyverbs tests by rdma_cm.

The tests move their QPs to RTR and RTS by hand, with the number and the GID of the remote
QP. iWARP has neither, and an RNIC's QPs are connected by rdma_cm only. by_rdma_cm() does
so in place of RDMATestCase.pre_run(). Both QPs belong to one process and one device.
"""
import pyverbs.cm_enums as ce
from pyverbs.cmid import CMEvent, CMEventChannel, CMID, AddrInfo, ConnParam

PORT = 7472


def expect(channel, *wanted):
    """These events come, in any order; the last one that came."""
    left = list(wanted)
    while left:
        event = CMEvent(channel)
        if event.event_type not in left:
            raise AssertionError(f'rdma_cm: {event.event_str()}')
        left.remove(event.event_type)
    return event


def connect(address, active_qp, passive_qp):
    """The ids of the connection, which has to be kept as long as them."""
    channel = CMEventChannel()
    listener = CMID(creator=channel)
    listener.bind_addr(AddrInfo(src=address, src_service=str(PORT), flags=ce.RAI_PASSIVE,
                                port_space=ce.RDMA_PS_TCP))
    listener.listen()
    active = CMID(creator=channel)
    active.resolve_addr(AddrInfo(src=address, dst=address, dst_service=str(PORT),
                                 port_space=ce.RDMA_PS_TCP))
    expect(channel, ce.RDMA_CM_EVENT_ADDR_RESOLVED)
    active.resolve_route()
    expect(channel, ce.RDMA_CM_EVENT_ROUTE_RESOLVED)
    active.connect(ConnParam(qp_num=active_qp.qp_num))
    request = expect(channel, ce.RDMA_CM_EVENT_CONNECT_REQUEST)
    passive = CMID(creator=request, listen_id=listener)
    request.ack_cm_event()
    passive.accept(ConnParam(qp_num=passive_qp.qp_num))
    expect(channel, ce.RDMA_CM_EVENT_ESTABLISHED, ce.RDMA_CM_EVENT_ESTABLISHED)
    return active, passive, listener, channel


def close(ids):
    """The channel comes last."""
    for each in ids:
        each.close()


def by_rdma_cm(test):
    """RDMATestCase.pre_run()"""
    test.client.rqps_num, test.server.rqps_num = test.server.qps_num, test.client.qps_num
    for ends in zip(test.client.qps, test.server.qps):
        test.addCleanup(close, connect(test.ip_addr, *ends))
