#!/usr/bin/python
"""Wires a testbed through an optical switch. It decides nothing: `lightloom wire` does."""

DOCUMENTATION = r"""
module: wire
short_description: Wire a testbed through an optical switch
description:
  - Runs C(lightloom wire) on the host. A run on links that stand changes nothing.
options:
  state:
    description: C(present) leases the ports of the links and makes them stand, C(absent) removes the testbed's circuits
      and ends its lease, C(verified) checks both ends of each link and changes nothing.
    choices: [present, absent, verified]
    default: present
    type: str
  switch:
    description: Name of the optical switch in O(devices); by default the one that the file of links names.
    type: str
  devices:
    description: Inventory of the switches.
    required: true
    type: path
  links:
    description: File of the links, YAML with all of it or a table in CSV; needed unless O(state=absent).
    type: path
  switch_ports:
    description: With a table of links, the table of the ports of switches.
    type: path
  tester_ports:
    description: With a table of links, the table of the ports of testers.
    type: path
  first_port:
    description: With tables, the number that they give the first port of the optical switch.
    type: int
  testbed:
    description: Name of the testbed; by default as the file of links says.
    type: str
  holder:
    description: Person who holds the lease; by default the user.
    type: str
  leases:
    description: File of leases.
    type: path
    default: leases.json
  lease_for:
    description: How long the lease lasts, such as C(8h); by default a day, and a lease that stands keeps its end.
    type: str
  take_over:
    description: Remove circuits of others that hold wanted ports.
    type: bool
    default: false
  settle:
    description: Time limit for what one change takes, such as C(10s).
    type: str
  program:
    description: The program.
    type: str
    default: lightloom
author: The Lightloom authors
"""

EXAMPLES = r"""
- name: Wire the testbed
  lightloom.lab.wire:
    links: testbed.yaml
    devices: devices.yaml
"""

RETURN = r"""
report:
  description: What C(lightloom wire -o json) writes.
  returned: always
  type: dict
"""

import json

from ansible.module_utils.basic import AnsibleModule

VERBS = {"present": "apply", "absent": "release", "verified": "verify"}


def command(p, check):
    verb = VERBS[p["state"]]
    if check and verb == "apply":
        verb = "plan"
    args = [p["program"], "wire", verb]
    if p["switch"]:
        args.append(p["switch"])
    flags = {"devices": "devices", "testbed": "testbed", "holder": "holder", "leases": "leases", "settle": "settle"}
    if verb != "release":
        flags.update(links="links", switch_ports="switch-ports", tester_ports="tester-ports", first_port="first-port")
    if verb == "apply":
        flags["lease_for"] = "for"
    for key, flag in flags.items():
        if p[key] is not None:
            args += ["--" + flag, str(p[key])]
    if p["take_over"] and verb in ("apply", "plan"):
        args.append("--take-over")
    return args + (["--dry-run"] if check and verb == "release" else []) + ["-o", "json"]


def main():
    texts = ("switch", "testbed", "holder", "lease_for", "settle")
    spec = {name: {"type": "str"} for name in texts}
    spec.update({name: {"type": "path"} for name in ("links", "switch_ports", "tester_ports")})
    spec.update(
        state={"type": "str", "choices": list(VERBS), "default": "present"},
        devices={"type": "path", "required": True},
        first_port={"type": "int"},
        leases={"type": "path", "default": "leases.json"},
        take_over={"type": "bool", "default": False},
        program={"type": "str", "default": "lightloom"},
    )
    module = AnsibleModule(spec, supports_check_mode=True, required_if=[
        ("state", "present", ["links"]), ("state", "verified", ["links"]), ("state", "absent", ["switch", "testbed"])])
    status, out, err = module.run_command(command(module.params, module.check_mode))
    try:
        report = json.loads(out)
    except ValueError:
        report = {}
    if status != 0 or not report:
        module.fail_json(msg=err.strip() or "lightloom said nothing", report=report, rc=status)
    connected = [c for s in report["steps"] for c in s["connect"]]
    removed = [c for s in report["steps"] for c in s["remove"]]
    lines = lambda circuits: "".join("%d>%d\n" % (c["in"], c["out"]) for c in circuits)
    module.exit_json(changed=report["changed"], report=report,
                     diff={"before": lines(removed), "after": lines(connected)})


if __name__ == "__main__":
    main()
