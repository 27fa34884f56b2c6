import { createInterface } from 'node:readline';
import { z } from 'zod';
import { type CommandEntry, EXIT, type ExitCode, standIn, type TerminalIo } from '../terminal/command.ts';
import { command } from '../terminal/define.ts';
import { chooseConsole } from './api/open-api.ts';
import { SOURCE_FLAGS } from './rules-flags.ts';
import { runTollgate } from './run-tollgate.ts';

export const mcpCommands = (entries: readonly CommandEntry[]) => [
  command({
    name: 'mcp',
    about: `On stdin and stdout: what is left of the budget, why was this job rejected, would such a job start. It only reads, and ends with
its input. With --console no key is needed: it uses the session of tollgate login.`,
    flags: SOURCE_FLAGS,
    json: 'has no effect: the protocol is JSON',
    examples: ['tollgate mcp --console https://budget.example.com'],
    run: async ({ flags }, io) => {
      const origin = chooseConsole(flags, io);
      const named = Object.entries(flags).flatMap(([name, value]) =>
        typeof value === 'string' && name !== 'console' ? [`--${name}=${value}`] : [],
      );
      const call = silently(io, entries);
      // A console has its own limits and groups; only made-up jobs are read by a policy from here.
      const tools =
        origin === undefined ? mcpTools(call, named) : mcpTools(call, [`--console=${origin}`], named);
      for await (const line of createInterface({ input: standIn(io, standardInput)() })) {
        if (line.trim() === '') continue;
        const answer = await mcpAnswer(line, tools, SERVER_VERSION);
        if (answer !== undefined) io.out(`${answer}\n`);
      }
      return EXIT.ok;
    },
  }),
];

export const standardInput = (): NodeJS.ReadableStream => process.stdin;

const SERVER_VERSION = '1';

export type CommandCall = (
  args: readonly string[],
) => Promise<{ readonly code: ExitCode; readonly out: string; readonly err: string }>;

/** Stdout is the protocol's: what commands print goes into the answer. */
const silently =
  (io: TerminalIo, commands: readonly CommandEntry[]): CommandCall =>
  async (args) => {
    let [out, err] = ['', ''];
    const quiet: TerminalIo = {
      ...{ ...io, colours: false, progress: false, columns: Number.POSITIVE_INFINITY },
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
    };
    return { code: await runTollgate(args, quiet, commands), out, err };
  };

/** Every field is a text; numbers are taken as texts. */
const field = (about: string) => z.string().max(500).describe(about);
const JOB = { job: field('The id of the job, 4711, or the address of its page in GitLab.') };
const GROUP = { group: field('Full path or id of the group.') };
const PLACE = {
  group: field('Full path of the group, if the project does not matter.').optional(),
  project: field('Full path of the project.').optional(),
  class: field('Runner class, such as small or large.').optional(),
  minutes: field('Its expected duration.').optional(),
  image: field('Its container image.').optional(),
};

/** A tool calls one command, and its answer is the text that the command prints for people. */
export function mcpTools(call: CommandCall, books: readonly string[], documents: readonly string[] = []) {
  const tool = <const Shape extends z.core.$ZodLooseShape>(
    name: string,
    description: string,
    shape: Shape,
    argsOf: (input: z.infer<z.ZodObject<Shape>>) => readonly string[],
  ) => {
    const fields = z.strictObject(shape);
    const run = async (given: unknown) => {
      const input = fields.parse(given) as z.infer<z.ZodObject<Shape>>;
      const { code, out, err } = await call(argsOf(input));
      const isError = code !== EXIT.ok && code !== EXIT.wouldReject;
      return { content: [{ type: 'text', text: (isError ? `${err}${out}` : out).trim() }], isError };
    };
    return { name, description, inputSchema: z.toJSONSchema(fields), run };
  };
  // `can-i` alone reads no books unless they are named.
  const isNamed = books.some((flag) => /^--(?:ledger|console)=/.test(flag));
  const canI = ['can-i', ...(isNamed ? [] : ['--ledger=local']), ...books];
  return [
    tool(
      'can_i_afford_rerun',
      'Checks if a CI job could start again now, with its cost and the remaining amounts.',
      JOB,
      ({ job }) => [...canI, `--rerun=${job}`],
    ),
    tool(
      'explain_job',
      'Why a CI job was admitted or rejected: rules, counters, price, and the text its developer read.',
      JOB,
      ({ job }) => ['explain', ...books, '--', job],
    ),
    tool(
      'budget_left',
      'The limits of a group and its ancestors: used, held, left, and when they reset.',
      GROUP,
      ({ group }) => ['budget', 'show', ...books, '--', group],
    ),
    tool(
      'would_job_start',
      'Checks if such a job would be admitted now, with its cost and the reasons against it.',
      PLACE,
      (job) => [...canI, ...documents, ...Object.entries(job).map(([name, value]) => `--${name}=${value}`)],
    ),
  ];
}

type McpTools = ReturnType<typeof mcpTools>;

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

/** @returns the answer, a line without its break; undefined: the message wants none. */
export async function mcpAnswer(line: string, tools: McpTools, version: string) {
  let id: string | number | null = null;
  const answer = (of: object) => JSON.stringify({ jsonrpc: '2.0', id, ...of });
  const refuse = (code: number, message: string) => answer({ error: { code, message } });
  try {
    const message = MessageSchema.safeParse(JSON.parse(line));
    if (!message.success) return refuse(-32_600, 'is no request of JSON-RPC 2.0');
    const { method, params } = message.data;
    if (message.data.id === undefined) return undefined;
    id = message.data.id;
    switch (method) {
      case 'initialize': {
        const protocolVersion = VERSIONS.find((each) => each === params.protocolVersion) ?? VERSIONS[0];
        const serverInfo = { name: 'tollgate', version };
        return answer({ result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
      }
      case 'ping':
        return answer({ result: {} });
      case 'tools/list': {
        const annotations = { readOnlyHint: true };
        return answer({
          result: { tools: tools.map(({ run: _run, ...tool }) => ({ ...tool, annotations })) },
        });
      }
      case 'tools/call': {
        const { data } = CallSchema.safeParse(params);
        const tool = tools.find(({ name }) => name === data?.name);
        if (tool !== undefined) return answer({ result: await tool.run(data?.arguments) });
        return refuse(-32_602, `expected one of ${tools.map(({ name }) => name).join(', ')}`);
      }
      default:
        return refuse(-32_601, `${method}: is no method of this server`);
    }
  } catch (error) {
    if (error instanceof SyntaxError) return refuse(-32_700, 'is no JSON');
    if (error instanceof z.ZodError) return refuse(-32_602, z.prettifyError(error));
    throw error;
  }
}
