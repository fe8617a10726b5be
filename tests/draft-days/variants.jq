# A draft in which a tool answers in variants: it lists the outputs that it can give, a call names those that it wants, and a
# result holds one list of outputs in place of `content` and `structuredContent`. The input is the schema of the newest release.
."$defs" |= (
    .OutputVariant = {
      "type": "object",
      "required": ["audience", "id"],
      "properties": {
        "id": {"type": "string"},
        "audience": {"enum": ["assistant", "user", "program"], "type": "string"},
        "schema": .Tool.properties.outputSchema
      }
    }
  | .ContentOutput = {
      "type": "object",
      "required": ["content", "type"],
      "properties": {
        "type": {"const": "content", "type": "string"},
        "variant": {"type": "string"},
        "content": .CallToolResult.properties.content
      }
    }
  | .StructuredOutput = {
      "type": "object",
      "required": ["type", "value"],
      "properties": {
        "type": {"const": "structured", "type": "string"},
        "variant": {"type": "string"},
        "value": {}
      }
    }
  | .ToolOutput = {"anyOf": [{"$ref": "#/$defs/ContentOutput"}, {"$ref": "#/$defs/StructuredOutput"}]}
  | .Tool.properties.outputVariants = {"type": "array", "items": {"$ref": "#/$defs/OutputVariant"}}
  | del(.Tool.properties.outputSchema)
  | .CallToolRequestParams.properties.requestedOutputs = {"type": "array", "items": {"type": "string"}}
  | .CallToolResult.properties.outputs = {"type": "array", "items": {"$ref": "#/$defs/ToolOutput"}}
  | .CallToolResult.required = ["outputs", "resultType"]
  | del(.CallToolResult.properties.content, .CallToolResult.properties.structuredContent)
)
