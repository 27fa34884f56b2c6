/**
 * A server's side of the Model Context Protocol: JSON-RPC 2.0, a message a line. Four methods are all that tools need.
 *
 * @see https://modelcontextprotocol.io/specification/2025-06-18/basic
 */
import { z } from 'zod';

/** Input of a tool: text fields. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly fields: Readonly<Record<string, { readonly description: string; readonly required?: true }>>;
  readonly run: (given: Readonly<Record<string, string>>) => Promise<ToolAnswer>;
}

export interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
}

const VERSIONS = ['2025-06-18', '2025-03-26', '2024-11-05'] as const;
const FIELD_CHARACTERS_MAX = 500;

const MessageSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
});
const CallSchema = z.object({
  name: z.string(),
  arguments: z.record(z.string(), z.union([z.string().max(FIELD_CHARACTERS_MAX), z.number()])).default({}),
});

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const NO_METHOD = -32_601;
const INVALID_PARAMS = -32_602;

/** @returns the answer, a line without its break; undefined: the message wants none. */
export async function mcpAnswer(
  line: string,
  tools: readonly McpTool[],
  version: string,
): Promise<string | undefined> {
  const parsed = parsedJson(line);
  if (parsed === undefined) return failure(null, PARSE_ERROR, 'is no JSON');
  const read = MessageSchema.safeParse(parsed);
  if (!read.success) return failure(null, INVALID_REQUEST, 'is no request of JSON-RPC 2.0');
  const { id, method, params = {} } = read.data;
  // A notification needs no response.
  if (id === undefined) return undefined;
  switch (method) {
    case 'initialize':
      return success(id, {
        protocolVersion: VERSIONS.find((each) => each === params.protocolVersion) ?? VERSIONS[0],
        capabilities: { tools: {} },
        serverInfo: { name: 'tollgate', version },
      });
    case 'ping':
      return success(id, {});
    case 'tools/list':
      return success(id, { tools: tools.map(described) });
    case 'tools/call':
      return call(id, params, tools);
    default:
      return failure(id, NO_METHOD, `${method}: is no method of this server`);
  }
}

async function call(
  id: string | number,
  params: Readonly<Record<string, unknown>>,
  tools: readonly McpTool[],
): Promise<string> {
  const read = CallSchema.safeParse(params);
  const tool = tools.find(({ name }) => name === read.data?.name);
  if (!read.success || tool === undefined)
    return failure(id, INVALID_PARAMS, `expected one of ${tools.map(({ name }) => name).join(', ')}`);
  const given = Object.entries(read.data.arguments).map(([name, value]) => [name, String(value)] as const);
  const unknown = given.find(([name]) => tool.fields[name] === undefined)?.[0];
  if (unknown !== undefined)
    return failure(
      id,
      INVALID_PARAMS,
      `${unknown}: is not asked for; expected ${Object.keys(tool.fields).join(', ')}`,
    );
  const missing = Object.entries(tool.fields).find(
    ([name, { required }]) => required && !given.some(([each]) => each === name),
  )?.[0];
  if (missing !== undefined) return failure(id, INVALID_PARAMS, `${missing}: is missing`);
  const { text, isError } = await tool.run(Object.fromEntries(given));
  return success(id, { content: [{ type: 'text', text }], isError });
}

const described = ({ name, description, fields }: McpTool) => ({
  name,
  description,
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(fields).map(([field, about]) => [
        field,
        { type: 'string', description: about.description },
      ]),
    ),
    required: Object.entries(fields).flatMap(([field, { required }]) => (required ? [field] : [])),
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true },
});

function parsedJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const success = (id: string | number, result: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result });

const failure = (id: string | number | null, code: number, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
