/** A server's side of MCP, @see https://modelcontextprotocol.io/specification/2025-06-18/basic */
import { z } from 'zod';

export interface McpTool {
  readonly name: string;
  readonly description: string;
  /** Every field is a text; numbers are taken as texts. */
  readonly fields: z.ZodType<Readonly<Record<string, string | undefined>>>;
  readonly run: (given: Readonly<Record<string, string | undefined>>) => Promise<ToolAnswer>;
}

export interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
}

const VERSIONS = ['2025-06-18', '2025-03-26', '2024-11-05'] as const;

const MessageSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).default({}),
});
const CallSchema = z.object({
  name: z.string(),
  arguments: z
    .record(z.string(), z.unknown())
    .default({})
    .transform((given) =>
      Object.fromEntries(
        Object.entries(given).map(([name, value]) => [name, typeof value === 'number' ? `${value}` : value]),
      ),
    ),
});

class McpError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** @returns the answer, a line without its break; undefined: the message wants none. */
export async function mcpAnswer(
  line: string,
  tools: readonly McpTool[],
  version: string,
): Promise<string | undefined> {
  let id: string | number | null = null;
  try {
    const read = MessageSchema.safeParse(parsedJson(line));
    if (!read.success) throw new McpError(-32_600, 'is no request of JSON-RPC 2.0');
    if (read.data.id === undefined) return undefined;
    id = read.data.id;
    const result = await resultOf(read.data.method, read.data.params, tools, version);
    return JSON.stringify({ jsonrpc: '2.0', id, result });
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    return JSON.stringify({ jsonrpc: '2.0', id, error: { code: error.code, message: error.message } });
  }
}

async function resultOf(
  method: string,
  params: Readonly<Record<string, unknown>>,
  tools: readonly McpTool[],
  version: string,
): Promise<object> {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: VERSIONS.find((each) => each === params.protocolVersion) ?? VERSIONS[0],
        capabilities: { tools: {} },
        serverInfo: { name: 'tollgate', version },
      };
    case 'ping':
      return {};
    case 'tools/list': {
      const annotations = { readOnlyHint: true };
      return {
        tools: tools.map(({ name, description, fields }) => ({
          ...{ name, description, inputSchema: z.toJSONSchema(fields), annotations },
        })),
      };
    }
    case 'tools/call': {
      const called = CallSchema.safeParse(params);
      const tool = tools.find(({ name }) => name === called.data?.name);
      if (tool === undefined)
        throw new McpError(-32_602, `expected one of ${tools.map(({ name }) => name).join(', ')}`);
      const given = tool.fields.safeParse(called.data?.arguments);
      if (!given.success) throw new McpError(-32_602, z.prettifyError(given.error));
      const { text, isError } = await tool.run(given.data);
      return { content: [{ type: 'text', text }], isError };
    }
    default:
      throw new McpError(-32_601, `${method}: is no method of this server`);
  }
}

function parsedJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new McpError(-32_700, 'is no JSON');
  }
}
