import { aProject, type DeskRun, runDesk } from '../desk-run.ts';

/** A small valid project; a test puts its own documents over it. */
export const POLICY = `currency: EUR
prices:
  version: "1"
  classes:
    - { name: large, tags: [large], rate_per_minute: 0.60 }
    - { name: small, rate_per_minute: 0.10 }
  default_class: small
estimate: { default: 10m }
platform: { groups: [102], job: { image: "alpine:3" } }
rules:
  - { id: budgets, kind: budget, mode: enforce }
  - { id: images, kind: image, mode: enforce, on_missing: reject, allow: ["alpine:*", "golang:*"], message: Ask us }
  - { id: tags, kind: image, mode: shadow, on_missing: skip, tags: fixed }
`;

export const LIMITS = `limits:
  - { on: { group: 101 }, money: 7.50, per: month, owner: leads }
`;

export const DIRECTORY = `groups:
  - { id: 100, path: acme }
  - { id: 101, parent: 100, path: acme/payments }
  - { id: 102, parent: 100, path: acme/platform }
projects:
  - { id: 1001, group: 101, path: acme/payments/api }
`;

export const project = (files: Readonly<Record<string, string>> = {}): string =>
  aProject({
    'policies/policy.yaml': POLICY,
    'policies/limits.yaml': LIMITS,
    'policies/directory.yaml': DIRECTORY,
    ...files,
  });

/** Runs a command in such a project. */
export const limitEdits = (
  args: readonly string[],
  files: Readonly<Record<string, string>> = {},
): Promise<DeskRun> => runDesk(args, project(files));
