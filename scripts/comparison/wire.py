"""Just enough of protobuf and zstd to take apart and change what crosses the network (profile/piecemeal.proto)."""
import struct
import subprocess

UPLOAD_ID, SCENE, SHADERS = 2, 4, 6  # of Profile
COLUMNS = (8, 9, 10, 11, 14)  # of ShaderProfile: calls, entry lanes, entry subgroups, counts, lanes alone
CURATED_AT = 3  # of Database
PPROF_TIME = 9  # of pprof's Profile


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def varint_bytes(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def fields(message):
    """Number, value (an int, or bytes) and raw bytes of each field."""
    at = 0
    while at < len(message):
        start = at
        tag, at = varint(message, at)
        if tag & 7 == 0:
            value, at = varint(message, at)
        elif tag & 7 == 2:
            size, at = varint(message, at)
            value, at = message[at:at + size], at + size
        else:
            size = {1: 8, 5: 4}[tag & 7]
            value, at = message[at:at + size], at + size
        yield tag >> 3, value, message[start:at]


def bytes_field(number, value):
    return varint_bytes(number << 3 | 2) + varint_bytes(len(value)) + value


def without(message, number):
    return b"".join(raw for field, _, raw in fields(message) if field != number)


def zstd(data, *options):
    return subprocess.run(["zstd", "-cq", *options], input=data, capture_output=True, check=True).stdout


def compress(data):
    # The size belongs into the frame, so it must be a file.
    return zstd(data, f"--stream-size={len(data)}")


def decompress(data):
    return zstd(data, "-d")


def scaled_column(packed, factor):
    out, at = bytearray(), 0
    while at < len(packed):
        value, at = varint(packed, at)
        out += varint_bytes(value * factor)
    return bytes(out)


def varied(profile, upload_id, scene, chance):
    """The profile as another session's: other ids, some shaders left out, all counts of a shader times a number."""
    out = bytearray()
    for number, value, raw in fields(profile):
        if number == UPLOAD_ID:
            out += bytes_field(UPLOAD_ID, upload_id)
        elif number == SHADERS:
            if chance.random() < 0.2:
                continue
            factor = chance.randrange(1, 40)
            shader = b"".join(
                bytes_field(field, scaled_column(column, factor)) if field in COLUMNS else part
                for field, column, part in fields(value))
            out += bytes_field(SHADERS, shader)
        elif number != SCENE:
            out += raw
        if number == 3 and scene:  # the scene follows the game's name
            out += bytes_field(SCENE, scene.encode())
    return bytes(out)


def records(spool):
    """The checkpoints of a spool file."""
    at = 16
    while at < len(spool):
        size, = struct.unpack_from("<I", spool, at)
        yield spool[at + 12:at + 12 + size]
        at += 12 + size
