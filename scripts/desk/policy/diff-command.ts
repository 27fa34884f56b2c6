import { resolve } from 'node:path';
import { isRecord } from '../../../policies/document/reading.ts';
import { limitsIn, policyIn, readDirectory } from '../../policy/read-documents.ts';
import { readYaml, type YamlDocument } from '../../policy/yaml-document.ts';
import { type Command, type DeskIo, EXIT, type ExitCode, UsageError } from '../command.ts';
import { readFlags } from '../flags.ts';
import { type Paint, paintWhen, printable } from '../paint.ts';
import { RULES_FLAGS, type RulesFiles, rulesFiles } from '../rules-flags.ts';
import { table } from '../table.ts';
import type { Change, Effect } from './diff/change.ts';
import { limitChanges } from './diff/diff-limits.ts';
import { policyChanges } from './diff/diff-policies.ts';
import { documentAt } from './diff/git-document.ts';
import { type JumpBetween, jumpsBetween, jumpText } from './diff/price-jumps-between.ts';

export const diffCommand: Command = {
  name: 'policy diff',
  summary: 'What changes between two policies, and does it tighten or loosen?',
  help: `Compares two policies by what they mean, not by their lines, and says of each change whether it tightens (more jobs
may be rejected), loosens, does neither, or could do both. A price that becomes many times another one is most likely a
typing error: it ends with exit 2 until it is corrected, confirmed in the prices (allow_jump: true), or --force is said.

Usage
  tollgate policy diff <old.yaml> <new.yaml>              two policies, or two limits documents
  tollgate policy diff --base <commit, branch or tag>     policy and limits of that commit against those here

  --policy <file>      the policy here; names the runner classes of limits  (default: policies/policy.yaml)
  --limits <file>      the limits here                                      (default: policies/limits.yaml)
  --directory <file>   which groups have which defaults and rollouts        (default: policies/directory.yaml)
  --force              prices that jump are meant
  --exit-code          exit 2 if there is any difference
  --json               one JSON object

Exit codes: 0 compared, 2 a price jumps, or with --exit-code there is a difference, 3 wrong usage or an invalid document`,
  run: async (args, io) => diff(args, io),
};

function diff(args: readonly string[], io: DeskIo): ExitCode {
  const { values, words } = readFlags(
    args,
    { base: 'text', ...RULES_FLAGS, force: 'switch', 'exit-code': 'switch' },
    { max: 2, what: 'two files, <old.yaml> <new.yaml>' },
  );
  const files = rulesFiles(values, io);
  const { changes, jumps } =
    values.base === undefined ? betweenFiles(words, files, io) : sinceBase(values.base, words, files, io);
  const refused = jumps.length > 0 && !values.force;
  if (values.json) io.out(`${JSON.stringify({ different: changes.length > 0, changes, jumps })}\n`);
  else {
    tell(changes, io);
    if (!values.force) tellJumps(jumps, io);
  }
  return refused || (values['exit-code'] && changes.length > 0) ? EXIT.wouldReject : EXIT.ok;
}

interface Compared {
  readonly changes: readonly Change[];
  readonly jumps: readonly JumpBetween[];
}

function betweenFiles(words: readonly string[], files: RulesFiles, io: DeskIo): Compared {
  const [old, recent] = words.map((word) => readYaml(resolve(io.cwd, word)));
  if (old === undefined || recent === undefined)
    throw new UsageError('expected two files, <old.yaml> <new.yaml>, or --base <commit, branch or tag>');
  const [one, other] = [isLimits(old), isLimits(recent)];
  if (one !== other)
    throw new UsageError(`${words.join(' ')}: one is a policy, the other has limits; expected two of a kind`);
  if (!one) return policiesBetween(old, recent, io);
  return { changes: limitsBetween([old, recent], [readYaml(files.policy)], files, io), jumps: [] };
}

const isLimits = ({ value }: YamlDocument): boolean =>
  isRecord(value) && value.rules === undefined && (value.limits ?? value.rollout) !== undefined;

function sinceBase(ref: string, words: readonly string[], files: RulesFiles, io: DeskIo): Compared {
  if (words.length > 0) throw new UsageError(`${words.join(' ')}: expected no files beside --base`);
  const policies = [documentAt(ref, files.policy, io), readYaml(files.policy)] as const;
  const limits = [documentAt(ref, files.limits, io), readYaml(files.limits)] as const;
  const { changes, jumps } = policiesBetween(...policies, io);
  return { changes: [...changes, ...limitsBetween(limits, policies, files, io)], jumps };
}

function policiesBetween(old: YamlDocument, recent: YamlDocument, io: DeskIo): Compared {
  const [from, to] = [old, recent].map((document) => ({
    policy: policyIn(document).model,
    document: document.value,
  }));
  if (from === undefined || to === undefined) return { changes: [], jumps: [] };
  const nowMs = io.nowMs();
  return { changes: policyChanges(from, to, nowMs), jumps: jumpsBetween(from, to, nowMs) };
}

/** Each with the policy it was used with: the classes it names may be gone by now. */
function limitsBetween(
  [old, recent]: readonly [YamlDocument, YamlDocument],
  [oldPolicy, policy = oldPolicy]: readonly [YamlDocument, YamlDocument?],
  files: RulesFiles,
  io: DeskIo,
): readonly Change[] {
  return limitChanges({
    from: limitsIn(old, policyIn(oldPolicy).model).model,
    to: limitsIn(recent, policyIn(policy).model).model,
    directory: readDirectory(files.directory),
    nowMs: io.nowMs(),
  });
}

const EFFECTS: readonly Effect[] = ['tightens', 'loosens', 'unclear', 'neutral'];

function tell(changes: readonly Change[], io: DeskIo): void {
  if (changes.length === 0) {
    io.out('no difference\n');
    return;
  }
  const paint = paintWhen(io.colours);
  const rows = changes.map(({ at, what, effect }) => [
    painted(effect, paint),
    printable(at),
    printable(what),
  ]);
  const counts = EFFECTS.flatMap((effect) => {
    const count = changes.filter((each) => each.effect === effect).length;
    return count === 0 ? [] : [`${count} ${effect}`];
  });
  const changed = changes.length === 1 ? '1 change' : `${changes.length} changes`;
  io.out(`${table([{}, {}, {}], rows, io.columns)}\n${changed}: ${counts.join(', ')}\n`);
}

function tellJumps(jumps: readonly JumpBetween[], io: DeskIo): void {
  for (const jump of jumps)
    io.err(`${printable(jumpText(jump))}: correct it, write allow_jump: true there, or say --force\n`);
}

function painted(effect: Effect, paint: Paint): string {
  switch (effect) {
    case 'tightens':
      return paint.warn(effect);
    case 'loosens':
      return paint.bad(effect);
    case 'unclear':
      return paint.strong(effect);
    case 'neutral':
      return paint.dim(effect);
  }
}
