# A draft that says the same in other words, as another generator writes it: `oneOf` for `anyOf` where a constant tells the
# shapes apart, an `enum` of one for a constant, a discriminator of OpenAPI. The input is the schema of the newest release.
."$defs" |= (
    .ContentBlock |= (.oneOf = .anyOf | del(.anyOf) | .discriminator = {"propertyName": "type"})
  | map_values(
      if .properties.type.const then .properties.type |= (.enum = [.const] | del(.const)) else . end
    )
)
