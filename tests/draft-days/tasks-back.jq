# A draft whose core takes the tasks extension back: its messages are those of the core, and a call may be answered by a
# task. The input is the schema of the newest release, `$extension` that of the newest state of the extension.
($extension[0]."$defs") as $own
| ."$defs" |= (
    $own + .
  | .GetTaskResultResponse = (.DiscoverResultResponse | .properties.result = {"$ref": "#/$defs/GetTaskResult"})
  | .UpdateTaskResultResponse = (.DiscoverResultResponse | .properties.result = {"$ref": "#/$defs/UpdateTaskResult"})
  | .CancelTaskResultResponse = (.DiscoverResultResponse | .properties.result = {"$ref": "#/$defs/CancelTaskResult"})
  | .CallToolResultResponse.properties.result.anyOf += [{"$ref": "#/$defs/CreateTaskResult"}]
  | .ClientRequest.anyOf += [("Get", "Update", "Cancel") | {"$ref": "#/$defs/\(.)TaskRequest"}]
  | .ServerNotification.anyOf += [{"$ref": "#/$defs/TaskStatusNotification"}]
  | .ServerCapabilities.properties.tasks = {"$ref": "#/$defs/TasksExtensionCapability"}
)
