import { resolve } from 'node:path';
import type { BacktestRules } from '../../../../functions/answers/backtest/question.ts';
import { isRecord } from '../../../../policies/document/reading.ts';
import { limitsIn, policyIn, readDirectory } from '../../../policy/read-documents.ts';
import { readYaml, type YamlDocument } from '../../../policy/yaml-document.ts';
import { type TerminalIo, UsageError } from '../../../terminal/command.ts';
import type { RulesFiles } from '../../rules-flags.ts';
import type { PolicyChange } from './change.ts';
import { limitChanges } from './diff-limits.ts';
import { policyChanges } from './diff-policies.ts';
import { documentAt } from './git-document.ts';
import { jumpsBetween, type LaterPriceJump } from './price-jumps-between.ts';

/** Differences of two documents, or two pairs. */
interface DiffedDocuments {
  readonly changes: readonly PolicyChange[];
  readonly jumps: readonly LaterPriceJump[];
  /** Rules before and after; loaded on demand. */
  readonly rules: () => readonly [BacktestRules, BacktestRules];
}

/** Two policies, or two limits documents. @throws {UsageError} for anything else. */
export function betweenFiles(words: readonly string[], files: RulesFiles, io: TerminalIo): DiffedDocuments {
  const [old, recent] = words.map((word) => readYaml(resolve(io.cwd, word)));
  if (old === undefined || recent === undefined)
    throw new UsageError('expected two files, <old.yaml> <new.yaml>, or --base <commit, branch or tag>');
  const [one, other] = [isLimits(old), isLimits(recent)];
  if (one !== other)
    throw new UsageError(`${words.join(' ')}: one is a policy, the other has limits; expected two of a kind`);
  const limits = () => readYaml(files.limits);
  if (!one) {
    const rules = () => rulesOf([old, recent], [limits(), limits()], files);
    return { ...policiesBetween(old, recent, io), rules };
  }
  const policy = readYaml(files.policy);
  return {
    changes: limitsBetween([old, recent], [policy], files, io),
    jumps: [],
    rules: () => rulesOf([policy, policy], [old, recent], files),
  };
}

const isLimits = ({ value }: YamlDocument): boolean =>
  isRecord(value) && value.rules === undefined && (value.limits ?? value.rollout) !== undefined;

/** Policy and limits of a commit against those here. */
export function sinceBase(
  ref: string,
  words: readonly string[],
  files: RulesFiles,
  io: TerminalIo,
): DiffedDocuments {
  if (words.length > 0) throw new UsageError(`${words.join(' ')}: expected no files beside --base`);
  const policies = [documentAt(ref, files.policy, io), readYaml(files.policy)] as const;
  const limits = [documentAt(ref, files.limits, io), readYaml(files.limits)] as const;
  const { changes, jumps } = policiesBetween(...policies, io);
  return {
    changes: [...changes, ...limitsBetween(limits, policies, files, io)],
    jumps,
    rules: () => rulesOf(policies, limits, files),
  };
}

function rulesOf(
  policies: readonly [YamlDocument, YamlDocument],
  limits: readonly [YamlDocument, YamlDocument],
  files: RulesFiles,
): readonly [BacktestRules, BacktestRules] {
  const directory = readDirectory(files.directory);
  const side = (index: 0 | 1): BacktestRules => {
    const policy = policyIn(policies[index]).model;
    return { policy, limits: limitsIn(limits[index], policy, directory).model, directory };
  };
  return [side(0), side(1)];
}

function policiesBetween(
  old: YamlDocument,
  recent: YamlDocument,
  io: TerminalIo,
): Omit<DiffedDocuments, 'rules'> {
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
  io: TerminalIo,
): readonly PolicyChange[] {
  return limitChanges({
    from: limitsIn(old, policyIn(oldPolicy).model).model,
    to: limitsIn(recent, policyIn(policy).model).model,
    directory: readDirectory(files.directory),
    nowMs: io.nowMs(),
  });
}
