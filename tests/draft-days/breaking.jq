# A draft that breaks: a member more and one fewer, a request and a notification more, a block in the place of another, a
# word more. The input is the schema of the newest release.
."$defs" |= (
    .Tool.properties.category = {"type": "string"}
  | del(.Tool.properties.annotations)
  | .PingToolsRequest = (.DiscoverRequest | .properties.method.const = "tools/ping")
  | .PingToolsResultResponse = (.DiscoverResultResponse | .properties.result = {"$ref": "#/$defs/EmptyResult"})
  | .ClientRequest.anyOf += [{"$ref": "#/$defs/PingToolsRequest"}]
  | .ToolsMovedNotification = (.ToolListChangedNotification | .properties.method.const = "notifications/tools/moved")
  | .ServerNotification.anyOf += [{"$ref": "#/$defs/ToolsMovedNotification"}]
  | .VideoContent = (.AudioContent | .properties.type.const = "video")
  | .ContentBlock.anyOf |= map(select(."$ref" != "#/$defs/ResourceLink")) + [{"$ref": "#/$defs/VideoContent"}]
  | .Role.enum += ["system"]
)
