# A draft that only adds: optional members, a request with its result, a capability. The input is the schema of the newest
# release.
."$defs" |= (
    .Tool.properties.category = {"type": "string"}
  | .Resource.properties.digest = {"type": "string"}
  | .Annotations.properties.weight = {"type": "number", "minimum": 0}
  | .ServerCapabilities.properties.catalogue = {"type": "object", "properties": {"search": {"type": "boolean"}}}
  | .SearchToolsRequest = (.ListToolsRequest | .properties.method.const = "tools/search")
  | .SearchToolsResultResponse = (.ListToolsResultResponse | .properties.result = {"$ref": "#/$defs/ListToolsResult"})
  | .ClientRequest.anyOf += [{"$ref": "#/$defs/SearchToolsRequest"}]
)
