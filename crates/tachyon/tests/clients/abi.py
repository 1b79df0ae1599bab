"""Random types and values: eth-abi and tachyon must produce the same bytes, and read them back the same."""

import json
import random
import subprocess
import sys

from eth_abi import decode, encode

RANDOM = random.Random(20240607)


def random_type(depth=0):
    kinds = ["uint", "int", "bool", "address", "bytesN", "bytes", "string"]
    if depth < 3:
        kinds += ["array", "fixed", "tuple"]
    kind = RANDOM.choice(kinds)
    if kind in ("uint", "int"):
        return f"{kind}{8 * RANDOM.randint(1, 32)}"
    if kind == "bytesN":
        return f"bytes{RANDOM.randint(1, 32)}"
    if kind == "array":
        return random_type(depth + 1) + "[]"
    if kind == "fixed":
        return random_type(depth + 1) + f"[{RANDOM.randint(1, 3)}]"
    if kind == "tuple":
        return "(" + ",".join(random_type(depth + 1) for _ in range(RANDOM.randint(1, 4))) + ")"
    return kind


def split_tuple(inner):
    parts, depth, start = [], 0, 0
    for index, char in enumerate(inner):
        depth += char == "("
        depth -= char == ")"
        if char == "," and depth == 0:
            parts.append(inner[start:index])
            start = index + 1
    return parts + [inner[start:]]


def random_value(type_name):
    """The value for eth-abi, and the same as tachyon's JSON."""
    if type_name.endswith("]"):
        base, _, size = type_name.rpartition("[")
        count = int(size[:-1]) if size != "]" else RANDOM.randint(0, 3)
        pairs = [random_value(base) for _ in range(count)]
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if type_name.startswith("("):
        pairs = [random_value(part) for part in split_tuple(type_name[1:-1])]
        return tuple(pair[0] for pair in pairs), [pair[1] for pair in pairs]
    if type_name.startswith("uint"):
        bits = int(type_name[4:])
        value = RANDOM.choice([0, 1, 2**bits - 1, RANDOM.randrange(2**bits), RANDOM.randrange(2 ** RANDOM.randint(1, bits))])
        return value, RANDOM.choice([str(value), hex(value)])
    if type_name.startswith("int"):
        bits = int(type_name[3:])
        half = 2 ** (bits - 1)
        value = RANDOM.choice([0, -1, half - 1, -half, RANDOM.randrange(-half, half)])
        return value, str(value)
    if type_name == "bool":
        value = RANDOM.random() < 0.5
        return value, value
    if type_name == "address":
        value = "0x" + RANDOM.randbytes(20).hex()
        return value, value
    if type_name == "string":
        value = "".join(RANDOM.choice("aé漢🙂\\\"\n") for _ in range(RANDOM.randint(0, 40)))
        return value, value
    size = RANDOM.randint(0, 70) if type_name == "bytes" else int(type_name[5:])
    value = RANDOM.randbytes(size)
    return value, "0x" + value.hex()


def canonical(value, type_name):
    """What eth-abi decoded, as tachyon writes it."""
    if type_name.endswith("]"):
        base = type_name.rpartition("[")[0]
        return [canonical(item, base) for item in value]
    if type_name.startswith("("):
        return [canonical(item, part) for item, part in zip(value, split_tuple(type_name[1:-1]))]
    if type_name.startswith(("uint", "int")):
        return str(value)
    if isinstance(value, bytes):
        return "0x" + value.hex()
    return value.lower() if type_name == "address" else value


def lowered(value, type_name):
    """Addresses without their checksum; eth-abi has none."""
    if type_name.endswith("]"):
        return [lowered(item, type_name.rpartition("[")[0]) for item in value]
    if type_name.startswith("("):
        return [lowered(item, part) for item, part in zip(value, split_tuple(type_name[1:-1]))]
    return value.lower() if type_name == "address" else value


def ask(program, direction, questions):
    text = "".join(json.dumps(question) + "\n" for question in questions)
    done = subprocess.run([program, "abi", direction], input=text, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    program = sys.argv[1]
    cases = []
    for _ in range(1000):
        types = [random_type() for _ in range(RANDOM.randint(1, 4))]
        pairs = [random_value(type_name) for type_name in types]
        cases.append((types, [pair[0] for pair in pairs], [pair[1] for pair in pairs]))
    ours = ask(program, "encode", [{"types": types, "values": values} for types, _, values in cases])
    theirs = ["0x" + encode(types, values).hex() for types, values, _ in cases]
    for (types, _, values), one, other in zip(cases, ours, theirs, strict=True):
        assert one.get("data") == other, (types, values, one, other)
    back = ask(program, "decode", [{"types": case[0], "data": data} for case, data in zip(cases, theirs)])
    for (types, _, _), data, one in zip(cases, theirs, back, strict=True):
        wanted = [canonical(value, name) for value, name in zip(decode(types, bytes.fromhex(data[2:])), types)]
        got = [lowered(value, name) for value, name in zip(one["values"], types)]
        assert got == wanted, (types, got, wanted)
    print(f"{len(cases)} encodings agree")


main()
