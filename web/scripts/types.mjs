// Types of what the daemon says, from its OpenAPI document: `npm run types` writes them, `npm run check` looks whether they are fresh.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const DOCUMENT = fileURLToPath(new URL("../../docs/openapi.json", import.meta.url));
const WRITTEN = fileURLToPath(new URL("../src/api/schema.ts", import.meta.url));
const HEAD = "// This file is generated from docs/openapi.json by `npm run types`; do not edit it.\n//\n// What is not there is left out of an answer and never null, so optional fields are plain.\n";

function typeOf(schema) {
  if (schema === true || schema === undefined || Object.keys(schema).every((key) => key === "description")) return "unknown";
  if (schema.$ref !== undefined) return schema.$ref.split("/").at(-1);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(" | ");
  if (schema.allOf !== undefined) return schema.allOf.map(typeOf).join(" & ");
  const types = [schema.type].flat();
  return types.map((type) => plain(type, schema)).join(" | ");
}

function plain(type, schema) {
  switch (type) {
    case "string":
      return "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "array":
      return `${parens(typeOf(schema.items))}[]`;
    default:
      return object(schema);
  }
}

function parens(type) {
  return type.includes(" ") ? `(${type})` : type;
}

function object(schema) {
  if (schema.properties === undefined) {
    const inside = schema.additionalProperties;
    return `Record<string, ${inside === undefined || inside === false ? "unknown" : typeOf(inside)}>`;
  }
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties).map(([name, property]) => {
    const type = typeOf(property);
    const shown = required.has(name) ? type : type.split(" | ").filter((part) => part !== "null").join(" | ");
    return `${comment(property, "  ")}  ${name}${required.has(name) ? "" : "?"}: ${shown};\n`;
  });
  return `{\n${fields.join("")}}`;
}

function comment(schema, indent) {
  if (typeof schema !== "object" || typeof schema.description !== "string") return "";
  return `${indent}/** ${schema.description.replaceAll("*/", "* /").replace(/\s+/g, " ")} */\n`;
}

/** The text that has to stand in `src/api/schema.ts`; none while there is no document. */
export function generated() {
  if (!existsSync(DOCUMENT)) return undefined;
  const { schemas } = JSON.parse(readFileSync(DOCUMENT, "utf8")).components;
  const types = Object.keys(schemas).sort().map((name) => `\n${comment(schemas[name], "")}export type ${name} = ${typeOf(schemas[name])};\n`);
  return HEAD + types.join("");
}

/** Whether what is written is what the document says. */
export function isFresh() {
  const wanted = generated();
  return wanted === undefined || (existsSync(WRITTEN) && readFileSync(WRITTEN, "utf8") === wanted);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = generated();
  if (text === undefined) {
    process.stderr.write("docs/openapi.json is not there.\n");
    process.exit(1);
  }
  writeFileSync(WRITTEN, text);
}
