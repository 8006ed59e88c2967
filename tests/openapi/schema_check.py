"""Compares values with the schemas of an OpenAPI 3.0 document: the words of JSON Schema that the
server's document uses, and no others."""

KNOWN = {"$ref", "type", "nullable", "enum", "properties", "required", "additionalProperties",
         "items", "oneOf", "anyOf", "allOf", "minimum", "description", "format", "default",
         "pattern", "maxLength", "minLength", "maxItems", "minItems", "maximum", "example"}
TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
}


def resolve(schema, document):
    while "$ref" in schema:
        value = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            value = value[part]
        schema = value
    return schema


def problems_in(value, schema, document, where="answer"):
    """What is wrong with the value, as texts."""
    schema = resolve(schema, document)
    unknown = set(schema) - KNOWN
    if unknown:
        yield f"{where}: the schema uses {sorted(unknown)}, which this test does not know"
    if value is None and schema.get("nullable"):
        return
    if "type" in schema and not TYPES[schema["type"]](value):
        yield f"{where}: expected {schema['type']}, found {type(value).__name__}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is none of {schema['enum']}"
    for word in ("oneOf", "anyOf"):
        found = [list(problems_in(value, each, document, where)) for each in schema.get(word, [])]
        if found and all(found):
            yield f"{where}: none of {len(found)} forms: {found[0][0]}"
    for each in schema.get("allOf", []):
        yield from problems_in(value, each, document, where)
    if isinstance(value, dict):
        yield from object_problems(value, schema, document, where)
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            yield from problems_in(item, schema["items"], document, f"{where}[{number}]")


def object_problems(value, schema, document, where):
    for name in schema.get("required", []):
        if name not in value:
            yield f"{where}: there is no '{name}'"
    others = schema.get("additionalProperties", True)
    for name, item in value.items():
        if name in schema.get("properties", {}):
            yield from problems_in(item, schema["properties"][name], document, f"{where}.{name}")
        elif others is False:
            yield f"{where}: '{name}' is not described"
        elif isinstance(others, dict):
            yield from problems_in(item, others, document, f"{where}.{name}")
