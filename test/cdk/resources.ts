import { expect, test } from 'vitest';
import { resourceFacts } from './resource-facts.ts';
import { DEFAULTS, PRIVATE, type SynthesizedStack, synthesize } from './synthesized.ts';

type Row = readonly [what: string, facts: string];

/** What is deployed in one stack: resources, then outputs. The stage's own name is not the matter here. */
function rowsOf({ template }: SynthesizedStack, stage: string): readonly Row[] {
  const plain = (text: string): string =>
    text
      .replaceAll(new RegExp(`(?<=[/-])${stage}(?=[/-])`, 'g'), 'STAGE')
      // The name of a version changes with all of its function.
      .replaceAll(/(?<=CurrentVersion[0-9A-F]{8})[0-9a-f]{32}/g, '');
  const resources = Object.entries(template.Resources).map(
    ([id, resource]): Row => [plain(`${id} ${resource.Type}`), plain(resourceFacts(resource))],
  );
  const outputs = Object.entries(template.Outputs ?? {}).map(
    ([id, { Export }]): Row => [`${id} output`, plain(Export === undefined ? '' : `Export=${Export.Name}`)],
  );
  return [...resources, ...outputs];
}

const stackOf = (which: typeof DEFAULTS, name: string): SynthesizedStack => {
  const found = synthesize(which).stacks.find((stack) => stack.name === name);
  if (found === undefined) throw new Error(`${name} is not synthesized`);
  return found;
};

/** One line for what both settings have alike, else a line for each. */
function listOf(stack: 'State' | 'Functions' | 'Relays'): readonly string[] {
  const standard = new Map(rowsOf(stackOf(DEFAULTS, `Tollgate-prod-${stack}`), 'prod'));
  const closed = new Map(rowsOf(stackOf(PRIVATE, `Tollgate-private-${stack}`), 'private'));
  const line = (what: string, where: string, facts: string | undefined): readonly string[] =>
    facts === undefined ? [] : [`${what} [${where}] ${facts}`.trimEnd()];
  return [...new Set([...standard.keys(), ...closed.keys()])]
    .toSorted()
    .flatMap((what) =>
      standard.get(what) === closed.get(what)
        ? line(what, 'both', standard.get(what))
        : [...line(what, 'defaults', standard.get(what)), ...line(what, 'private', closed.get(what))],
    );
}

const HEAD = `Resources of each stack by logical id: with the settings as the file stands (defaults), with every setting
set (private), or alike in both. A change of this list is a change of deployments.`;

test('each stack deploys the resources that were reviewed, with the properties that matter', async () => {
  const text = (['State', 'Functions', 'Relays'] as const)
    .map((stack) => `\n${stack}\n${listOf(stack).join('\n')}\n`)
    .join('');
  await expect(`${HEAD}\n${text}`).toMatchFileSnapshot('resources.txt');
});

test('whatever takes tags says which stage it belongs to', () => {
  const resources = synthesize(DEFAULTS).stacks.flatMap(({ template }) => Object.values(template.Resources));
  const tagged = resources.filter(({ Properties }) => Array.isArray(Properties?.Tags));
  const types = new Set(tagged.map(({ Type }) => Type));
  expect([...types]).toEqual(
    expect.arrayContaining(['AWS::DynamoDB::Table', 'AWS::ECS::Service', 'AWS::Lambda::Function']),
  );
  for (const { Type, Properties } of resources.filter((each) => types.has(each.Type)))
    expect(Properties, Type).toMatchObject({
      Tags: expect.arrayContaining([{ Key: 'tollgate:stage', Value: 'prod' }]),
    });
});
