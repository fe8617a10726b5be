# A draft with places for extensions: what a peer declares of one has a version beside its settings, and requests for tools,
# tools, and results may carry what extensions add to them, by their identifiers. The input is the schema of the newest release.
."$defs" |= (
    .ExtensionDeclaration = {
      "type": "object",
      "properties": {
        "version": {"type": "string"},
        "settings": {"type": "object", "additionalProperties": {}}
      }
    }
  | .ExtensionData = {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": {}}}
  | .ServerCapabilities.properties.extensions.additionalProperties = {"$ref": "#/$defs/ExtensionDeclaration"}
  | .ClientCapabilities.properties.extensions.additionalProperties = {"$ref": "#/$defs/ExtensionDeclaration"}
  | (.CallToolRequestParams, .CallToolResult, .ListToolsResult, .Tool) |= (.properties.extensions = {"$ref": "#/$defs/ExtensionData"})
)
