# A draft in which a tool answers in variants: it lists those that it has, a call names the ones that it wants, and a result
# holds one list of outputs in the place of its content and its structured content. The input is the schema of the newest release.
def one($kind; $member; $of): {
  "type": "object",
  "required": (["type"] + (if $member then [$member] else [] end) | sort),
  "properties": ({"type": {"const": $kind, "type": "string"}} + if $member then {($member): $of} else {} end)
};
def any($names): {"anyOf": [$names[] | {"$ref": "#/$defs/\(.)"}]};
def list($name): {"type": "array", "items": {"$ref": "#/$defs/\($name)"}};
."$defs" |= (
    .ContentOutput = one("content"; "content"; .CallToolResult.properties.content)
  | .StructuredOutput = one("structured"; "value"; .CallToolResult.properties.structuredContent)
  | .ToolOutput = any(["ContentOutput", "StructuredOutput"])
  | .ContentVariant = one("content"; null; null)
  | .StructuredVariant = one("structured"; "schema"; {"type": "object", "additionalProperties": {}})
  | .OutputVariant = any(["ContentVariant", "StructuredVariant"])
  | .Tool.properties.outputVariants = list("OutputVariant")
  | del(.Tool.properties.outputSchema)
  | .CallToolRequestParams.properties.requestedOutputs = {"type": "array", "items": {"type": "string"}}
  | .CallToolResult.properties.outputs = list("ToolOutput")
  | .CallToolResult.required = ["outputs", "resultType"]
  | del(.CallToolResult.properties.content, .CallToolResult.properties.structuredContent)
)
