import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { commands } from '../../../../scripts/cli/check/check-command.ts';
import { EXIT } from '../../../../scripts/terminal/command.ts';
import { ROOT, repository } from './check-bench.ts';

const TEXT = readFileSync(join(ROOT, 'docs/ci/check.yml'), 'utf8');
const [header, jobs] = parseAllDocuments(TEXT).map((each) => {
  expect(each.errors).toEqual([]);
  return each.toJS();
});
const { inputs } = z
  .object({ spec: z.object({ inputs: z.record(z.string(), z.unknown()) }) })
  .parse(header).spec;
const JOB = z
  .record(z.string(), z.object({ script: z.array(z.string()) }))
  .transform((all) => Object.values(all)[0]);

test('every input of the template is used, and every one used is declared', () => {
  const used = [...TEXT.matchAll(/\$\[\[ inputs\.([\w-]+) \]\]/g)].map(([, name]) => name);
  expect([...new Set(used)].sort()).toEqual(Object.keys(inputs).sort());
});

test('it is a pipeline that tollgate check itself reads, and runs for merge requests only', async () => {
  const house = repository({
    files: { '.gitlab-ci.yml': TEXT },
    rules: [{ id: 'b', kind: 'budget', mode: 'enforce' }],
  });
  const given = ['--input', 'image=alpine:3.22', '--input', 'documents=mine', '--json'];
  const namesOf = async (source: string) => {
    const { code, out } = await house.check('.', '--source', source, ...given);
    expect(code).toBe(EXIT.ok);
    return JSON.parse(out).jobs.map(({ name }: { name: string }) => name);
  };
  expect(await namesOf('merge_request_event')).toEqual(['tollgate-check']);
  expect(await namesOf('push')).toEqual([]);
});

test('its job has a token that is made out to the console, and to nobody without one', () => {
  const [job] = Object.values(jobs) as { id_tokens: object; allow_failure: object }[];
  expect(job?.id_tokens).toEqual({ TOLLGATE_ID_TOKEN: { aud: '$[[ inputs.console ]]' } });
  expect(inputs.console).toMatchObject({ default: 'none' });
  // What could not be found out does not fail a pipeline, also where a rejection does.
  expect(job?.allow_failure).toEqual({ exit_codes: [EXIT.failed] });
});

test.each([
  ['42', 'none'],
  ['43', 'https://budget.example.com'],
])('its script asks with the target branch beside, in project %s with console %s', (projectId, console) => {
  const house = repository({ files: { '.gitlab-ci.yml': 'unit: { script: x }\n' }, rules: [] });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd: house.folder,
    });
  git('init', '--quiet', '-b', 'main');
  git('add', '.gitlab-ci.yml');
  git('commit', '--quiet', '-m', 'first');
  // The address ends in .git, as GitLab's do.
  git('clone', '--quiet', '--bare', '.', 'origin.git');
  git('remote', 'add', 'origin', './origin.git');
  writeFileSync(join(house.folder, 'tollgate'), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
  const script = (JOB.parse(jobs)?.script ?? []).join('\n');
  execFileSync('sh', ['-e', '-c', script], {
    cwd: house.folder,
    env: {
      PATH: `${house.folder}:${process.env.PATH}`,
      TMPDIR: house.folder,
      DOCUMENTS: 'my documents',
      CONSOLE: console,
      CI_PROJECT_ID: projectId,
      CI_MERGE_REQUEST_PROJECT_ID: '42',
      // Needs a login where the project is private; the job's own origin has one.
      CI_MERGE_REQUEST_PROJECT_URL: `file://${projectId === '42' ? '/nowhere' : house.folder}/origin`,
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
      CI_MERGE_REQUEST_PROJECT_PATH: 'acme/payments/checkout',
      CI_COMMIT_REF_NAME: 'topic',
      CI_DEFAULT_BRANCH: 'main',
    },
  });
  const words = readFileSync(join(house.folder, 'tollgate-check.json'), 'utf8').trimEnd().split('\n');
  expect(words.slice(0, 4)).toEqual(['check', '.', '--policy', 'my documents/policy.yaml']);
  expect(words[words.indexOf('--before') + 1]).toMatch(/\/before$/);
  expect(words.includes('--console')).toBe(console !== 'none');
  if (console !== 'none') expect(words[words.indexOf('--console') + 1]).toBe(console);
  for (const flag of words.filter((word) => word.startsWith('--')))
    expect(commands[0]?.help('')).toContain(flag);
});
