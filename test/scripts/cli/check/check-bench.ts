import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { policyDocument } from '../../../policies/documents.ts';
import { aProject, runDesk } from '../desk-run.ts';

export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
export const PROJECT = ['--project', 'acme/payments/checkout'];

const DIRECTORY = {
  groups: [
    { id: 100, path: 'acme' },
    { id: 101, parent: 100, path: 'acme/payments' },
  ],
  projects: [{ id: 1001, group: 101, path: 'acme/payments/checkout' }],
};

export interface CheckedJob {
  readonly name: string;
  readonly outcome: string;
  readonly costMicros: number;
  readonly notRead: readonly string[];
  readonly rejects: readonly { readonly rule: string }[];
  readonly cannotTell: readonly object[];
  readonly rules: readonly object[];
}

export function repository(parts: {
  readonly files: Readonly<Record<string, string>> | string;
  readonly rules: readonly object[];
  readonly limits?: readonly object[];
}) {
  const files = typeof parts.files === 'string' ? { '.gitlab-ci.yml': parts.files } : parts.files;
  const folder = aProject({
    ...files,
    'policies/policy.yaml': JSON.stringify(policyDocument({ rules: parts.rules })),
    'policies/limits.yaml': JSON.stringify({ limits: parts.limits ?? [] }),
    'policies/directory.yaml': JSON.stringify(DIRECTORY),
  });
  const at = (columns: number, ...args: readonly string[]) =>
    runDesk(['check', ...args], folder, { columns });
  return {
    folder,
    write: (path: string, text: string): void => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    },
    at,
    check: (...args: readonly string[]) => at(120, ...args),
    json: async (...args: readonly string[]) => {
      const { code, out } = await at(120, ...args, '--json');
      const json = JSON.parse(out);
      const jobs: readonly CheckedJob[] = json.jobs ?? [];
      const outcome = Object.fromEntries(jobs.map(({ name, outcome }) => [name, outcome]));
      return { ...json, code, jobs, outcome };
    },
  };
}
