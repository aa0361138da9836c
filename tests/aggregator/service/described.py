"""What docs/openapi.json says an answer looks like, and requests whose answers are held against it.
Standard library only."""
import re
from urllib.parse import quote

failures = []
seen = set()  # (path, method, status) that were answered as described


def check(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


# ---- JSON schema, as much of it as the file uses ----

KNOWN = {"type", "properties", "required", "additionalProperties", "items", "enum", "pattern", "minimum",
         "maximum", "minItems", "maxItems", "$ref", "description", "contentEncoding", "default"}


def is_type(value, name):
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if name == "integer":
        return is_type(value, "number") and float(value).is_integer()
    return isinstance(value, {"object": dict, "array": list, "string": str, "boolean": bool,
                              "null": type(None)}[name])


def problems(document, schema, value, place="$"):
    if "$ref" in schema:
        target = document
        for part in schema["$ref"].lstrip("#/").split("/"):
            target = target[part]
        return problems(document, target, value, place)
    assert set(schema) <= KNOWN, f"the test does not know {set(schema) - KNOWN}"
    types = schema.get("type", [])
    types = types if isinstance(types, list) else [types]
    if types and not any(is_type(value, one) for one in types):
        return [f"{place}: {value!r} is no {types}"]
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{place}: {value!r} is none of {schema['enum']}")
    if is_type(value, "number"):
        if value < schema.get("minimum", value) or value > schema.get("maximum", value):
            found.append(f"{place}: {value} is out of bounds")
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        found.append(f"{place}: {value!r} does not match {schema['pattern']}")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            found.append(f"{place}: has {len(value)} items")
        for i, item in enumerate(value):
            found += problems(document, schema.get("items", {}), item, f"{place}[{i}]")
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                found.append(f"{place}: lacks {name}")
        for name, item in value.items():
            if name in schema.get("properties", {}):
                found += problems(document, schema["properties"][name], item, f"{place}.{name}")
            elif schema.get("additionalProperties") is False:
                found.append(f"{place}: {name} is not described")
    return found


# ---- asking ----

class Asker:
    def __init__(self, document, server, token=None):
        self.document, self.server, self.token = document, server, token

    def ask(self, path, status, names=(), query="", method="get", **more):
        """Asks for a path of the document, its {} filled with names, and holds the answer against it."""
        address = path
        for name in names:
            address = re.sub(r"\{\w+\}", lambda _, name=name: quote(name, safe=""), address, count=1)
        more.setdefault("token", self.token)
        reply = self.server.send(address + query, method.upper(), **more)
        what = f"{method.upper()} {address + query}"
        if reply.status == 503 and status != 503:
            reply = self.server.wait(address + query, token=more["token"])
        check(reply.status == status, f"{what}: {reply.status}, not {status}: {reply.body[:200]!r}")
        return self.hold(path, method, reply, what)

    def hold(self, path, method, reply, what):
        """Holds an answer against what the document says of this status."""
        described = self.document["paths"][path][method]["responses"].get(str(reply.status))
        check(described is not None, f"{what}: {reply.status} is not described")
        if described is None:
            return reply
        for name, header in described.get("headers", {}).items():
            check(name in reply.headers, f"{what}: {reply.status} lacks {name}")
            for problem in problems(self.document, header["schema"], reply.headers.get(name, ""), name):
                check(False, f"{what}: {problem}")
        for name in ("ETag", "Retry-After"):
            check(name not in reply.headers or name in described.get("headers", {}), f"{what}: has {name}")
        content = described.get("content", {})
        if not content:
            check(reply.body == b"", f"{what}: has a body")
        elif reply.type not in content and not path.startswith("/assets/"):
            check(False, f"{what}: is {reply.type}, not {list(content)}")
        elif reply.type == "application/json":
            check(reply.headers.get("X-Content-Type-Options") == "nosniff", f"{what}: may be sniffed")
            for problem in problems(self.document, content[reply.type]["schema"], reply.json()):
                check(False, f"{what}: {problem}")
        seen.add((path, method, str(reply.status)))
        return reply
