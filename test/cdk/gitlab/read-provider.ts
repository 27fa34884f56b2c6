/**
 * Writes `provider.json`: the arguments of the resources that the Terraform module uses, as GitLab's provider documents them.
 *
 *     node test/cdk/gitlab/read-provider.ts <a checkout of terraform-provider-gitlab>
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const RESOURCES = [
  'gitlab_runner_controller',
  'gitlab_runner_controller_instance_scope',
  'gitlab_runner_controller_runner_scope',
  'gitlab_runner_controller_token',
];

const HEADINGS = {
  '### Required': 'required',
  '### Optional': 'optional',
  '### Read-Only': 'computed',
} as const;

/** The names below each heading of a page's own schema; what nested blocks have is left out. */
function argumentsOf(page: string) {
  const found = { required: [] as string[], optional: [] as string[], computed: [] as string[] };
  const [schema = ''] = (page.split('## Schema')[1] ?? '').split(/<a id="nestedatt|## Import/);
  let heading: keyof typeof found | undefined;
  for (const line of schema.split('\n')) {
    heading = HEADINGS[line.trim() as keyof typeof HEADINGS] ?? heading;
    const name = /^- `(\w+)` \(/.exec(line)?.[1];
    if (heading !== undefined && name !== undefined) found[heading].push(name);
  }
  return found;
}

const [checkout] = process.argv.slice(2);
if (checkout === undefined) throw new Error('name a checkout of terraform-provider-gitlab');
const version = /^## (\d+\.\d+\.\d+)/m.exec(readFileSync(join(checkout, 'CHANGELOG.md'), 'utf8'))?.[1];
const pages = RESOURCES.map((resource) => [
  resource,
  argumentsOf(
    readFileSync(join(checkout, 'docs/resources', `${resource.replace('gitlab_', '')}.md`), 'utf8'),
  ),
]);
writeFileSync(
  new URL('provider.json', import.meta.url),
  `${JSON.stringify({ version, resources: Object.fromEntries(pages) }, undefined, 2)}\n`,
);
