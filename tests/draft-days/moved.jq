# A draft in which things have another place: a method has another name, a notification becomes a request with a result, each
# request names its trace, and a capability is part of another one. The input is the schema of the newest release.
def ref($name): {"$ref": "#/$defs/\($name)"};
."$defs" |= (
    .GetPromptRequest.properties.method.const = "prompts/render"
  | .CancelRequest = (.DiscoverRequest | .properties.method.const = "requests/cancel" | .properties.params = ref("CancelRequestParams"))
  | .CancelRequestParams = (.CancelledNotificationParams
      | .properties._meta = ref("RequestMetaObject") | .required = ["_meta", "requestId"])
  | .CancelResultResponse = (.DiscoverResultResponse | .properties.result = ref("EmptyResult"))
  | .ClientRequest.anyOf += [ref("CancelRequest")]
  | .ServerNotification.anyOf |= map(select(. != ref("CancelledNotification")))
  | del(.ClientNotification, .CancelledNotification, .CancelledNotificationParams)
  | .RequestMetaObject.properties."io.modelcontextprotocol/traceId" = {"type": "string"}
  | .RequestMetaObject.required = (.RequestMetaObject.required + ["io.modelcontextprotocol/traceId"] | sort)
  | .ServerCapabilities.properties.prompts.properties.completions = .ServerCapabilities.properties.completions
  | del(.ServerCapabilities.properties.completions)
)
