import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../../scripts/cli/commands.ts';
import { chosenCommand } from '../../../scripts/cli/run-tollgate.ts';
import {
  type Command,
  type CommandEntry,
  DocumentError,
  EXIT,
  UsageError,
} from '../../../scripts/terminal/command.ts';
import { aProject, runDesk } from './desk-run.ts';

const entry = (name: string, run: Command['run'] = async () => EXIT.ok): CommandEntry => ({
  name,
  summary: `summary of ${name}`,
  load: async () => ({
    name,
    help: () => `help of ${name}`,
    flags: {},
    examples: [],
    parse: () => ({ flags: {} }),
    run,
  }),
});

const broken: CommandEntry = {
  name: 'broken',
  summary: 'summary of broken',
  load: () => Promise.reject(new Error('its file is not there')),
};

const commands: readonly CommandEntry[] = [
  entry('policy', async (args, io) => {
    io.out(`policy ${args.join(' ')}`);
    return EXIT.ok;
  }),
  entry('policy test', async (args, io) => {
    io.out(`policy test ${args.join(' ')}`);
    return EXIT.wouldReject;
  }),
  entry('check'),
  entry('usage', () => Promise.reject(new UsageError('--x "y": expected z'))),
  entry('document', () => Promise.reject(new DocumentError(['/project/a.yaml:1:2 one', 'b.yaml:3:4 two']))),
  entry('bug', () => Promise.reject(new TypeError('x is not a function'))),
  broken,
];

const run = (...args: string[]) => runDesk(args, '/project/', { cwd: '/project' }, commands);

test.each([[[]], [['--help']], [['-h']], [['help']]])(
  '%j lists every command without loading one',
  async (args) => {
    const { code, out } = await runDesk(args, '/project/', {}, commands);
    expect(code).toBe(0);
    for (const { name, summary } of commands) {
      expect(out).toContain(name);
      expect(out).toContain(summary);
    }
  },
);

test('--version says which one this is', async () => {
  const root = aProject({ 'package.json': JSON.stringify({ version: '1.2.3' }) });
  expect(await runDesk(['--version'], root, {}, commands)).toMatchObject({
    code: 0,
    out: 'tollgate 1.2.3\n',
  });
  expect((await runDesk(['--version', '--json'], root, {}, commands)).out).toBe('{"version":"1.2.3"}\n');
});

test.each(['bash', 'zsh', 'fish'])('completion for %s knows every command and its flags', async (shell) => {
  const { code, out } = await runDesk(['completion', shell], '/project/', {});
  expect(code).toBe(0);
  for (const { name } of COMMANDS) for (const word of name.split(' ')) expect(out).toContain(word);
  expect(out).toContain(shell === 'fish' ? "__tollgate_is 'budget set'\" -l limit" : '--limit');
});

test('bash completes commands, then their own flags', async () => {
  const { out } = await runDesk(['completion', 'bash'], '/project/', {});
  const complete = (...words: string[]): readonly string[] => {
    const script = `${out}\nCOMP_WORDS=(tollgate "$@"); COMP_CWORD=$#; _tollgate; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = spawnSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' });
    return stdout.split('\n').filter((line) => line !== '');
  };
  expect(complete('bud')).toEqual(['budget']);
  expect(complete('budget', 'un')).toEqual(['undo']);
  expect(complete('budget', 'set', 'acme', '--dry')).toEqual(['--dry-run']);
  expect(complete('breakglass', 'e')).toEqual(['end']);
  expect(complete('--ver')).toEqual(['--version']);
  expect(complete('statement', '--mo')).toEqual(['--month']);
});

test('--help and help tell a command’s help and do not run it', async () => {
  expect(await run('usage', '--help')).toMatchObject({ code: 0, out: 'help of usage\n', err: '' });
  expect(await run('help', 'policy', 'test')).toMatchObject({ code: 0, out: 'help of policy test\n' });
});

test.each([
  [['chekc'], 'tollgate chekc: is no command; did you mean tollgate check?'],
  [['polcy', 'test'], 'tollgate polcy test: is no command; did you mean tollgate policy test?'],
  [['zzzzzz'], 'tollgate zzzzzz: is no command; expected policy, policy test, check'],
  [['--verbose'], '--verbose: expected a command before it'],
])('%j is told what was probably meant and ends with 3', async (args, said) => {
  const { code, err, out } = await runDesk(args, '/project/', {}, commands);
  expect(code).toBe(3);
  expect(err).toContain(said);
  expect(err).toContain('See: tollgate --help');
  expect(out).toBe('');
});

test('any other failure ends with 1, its stack only where it was asked for', async () => {
  const plain = await run('bug');
  expect(plain).toEqual({ code: 1, out: '', err: 'x is not a function\n' });
  const { err } = await runDesk(['bug'], '/project/', { env: { TOLLGATE_DEBUG: '1' } }, commands);
  expect(err).toContain('run-tollgate.test.ts');
});

test.each([
  ['usage', 3, { code: 'usage', message: '--x "y": expected z', problems: [] }],
  ['document', 3, { code: 'invalid', message: '2 problems', problems: ['a.yaml:1:2 one', 'b.yaml:3:4 two'] }],
  ['bug', 1, { code: 'failed', message: 'x is not a function', problems: [] }],
])('with --json the failure of %s is one JSON object on stdout', async (name, code, error) => {
  const result = await run(name, '--json');
  expect(result.code).toBe(code);
  expect(result.err).toBe('');
  expect(JSON.parse(result.out)).toEqual({ error });
});

describe.each(COMMANDS.map((each) => [each.name, each] as const))('%s', (name, listed) => {
  test('is listed as it calls itself, and has a help text', async () => {
    const command = await listed.load();
    expect(command.name).toBe(name);
    const { code, out } = await runDesk([...name.split(' '), '--help'], aProject());
    expect(code).toBe(0);
    expect(out).toContain(`tollgate ${name}`);
  });

  test('takes every example of its help', async () => {
    const { examples, parse } = await listed.load();
    for (const example of examples) {
      const args = shellWords(example);
      expect(args.shift()).toBe('tollgate');
      const chosen = chosenCommand(args, COMMANDS);
      expect(chosen).toMatchObject({ kind: 'command', entry: { name }, help: false });
      if (chosen.kind === 'command') expect(() => parse(chosen.rest)).not.toThrow();
      expect(await runDesk([...args, '--help'], aProject())).toMatchObject({ code: 0 });
    }
  });
});

/** Words of a command line with its quotes removed, up to a redirection or a pipe. */
const shellWords = (line: string): string[] =>
  (line.split(/ [>|] /, 1)[0] ?? '')
    .match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)
    ?.map((each) => each.replace(/["']/g, '')) ?? [];
