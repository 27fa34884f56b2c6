import { describe, expect, test } from 'vitest';
import { expanded, jobNamed, names } from './folder.ts';

const DEPLOY = `spec:
  inputs:
    env: { options: [staging, production] }
    runner: { default: small }
    count: { type: number, default: 2 }
    manual: { type: boolean, default: false }
    services: { type: array, default: [redis] }
---
"deploy $[[ inputs.env ]]":
  script: x
  image: deployer:$[[ inputs.env | truncate(0, 4) ]]
  tags: [$[[ inputs.runner ]]]
  parallel: $[[ inputs.count ]]
  services: $[[ inputs.services ]]
  variables: { MANUAL: "$[[ inputs.manual ]]", WHERE: $[[ inputs.env | expand_vars ]] }
`;

describe('inputs', () => {
  test('are put in, with their defaults and types, and a file included twice is read with each', () => {
    const pipeline = expanded({
      '.gitlab-ci.yml': `include:
  - { local: deploy.yml, inputs: { env: staging } }
  - { local: deploy.yml, inputs: { env: production, runner: large, count: 1, manual: true, services: [postgres, redis] } }
`,
      'deploy.yml': DEPLOY,
    });
    expect(names(pipeline)).toEqual(['deploy staging 1/2', 'deploy staging 2/2', 'deploy production 1/1']);
    expect(jobNamed(pipeline, 'deploy staging 2/2')).toMatchObject({
      image: 'deployer:stag',
      tags: ['small'],
      services: [{ name: 'redis' }],
      variables: { MANUAL: 'false', WHERE: 'staging' },
      place: { file: 'deploy.yml', line: 9 },
    });
    expect(jobNamed(pipeline, 'deploy production 1/1')).toMatchObject({
      image: 'deployer:prod',
      tags: ['large'],
      services: [{ name: 'postgres' }, { name: 'redis' }],
      variables: { MANUAL: 'true', WHERE: 'production' },
    });
    expect(pipeline.problems).toEqual([]);
  });

  test('of the pipeline itself come from who starts it', () => {
    const run = { inputs: { env: 'staging', count: '1', services: '["mysql"]' } };
    expect(jobNamed(expanded(DEPLOY, run), 'deploy staging 1/1').services).toEqual([{ name: 'mysql' }]);
  });

  test('take the values of variables that are known, and leave the others as they are written', () => {
    const pipeline = expanded(
      {
        '.gitlab-ci.yml': 'include: [{ local: job.yml, inputs: { at: "$REGION/$ELSE" } }]',
        'job.yml': `spec: { inputs: { at: } }\n---\nj: { script: x, tags: ["$[[ inputs.at | expand_vars ]]"] }`,
      },
      { given: { REGION: 'eu' } },
    );
    expect(jobNamed(pipeline, 'j').tags).toEqual(['eu/']);
    expect(pipeline.problems).toEqual([
      "j: tags uses $ELSE, which no file sets; empty, unless GitLab's settings set it",
    ]);
  });

  test.each([
    { inputs: '{}', says: 'deploy.yml: input "env" has no value and no default; the include must give it' },
    { inputs: '{ env: test }', says: 'input "env" is "test"; expected one of staging, production' },
    { inputs: '{ env: staging, count: many }', says: 'input "count" is "many"; expected a number' },
    { inputs: '{ env: staging, runner: 4 }', says: 'input "runner" is 4; expected a string' },
    {
      inputs: '{ env: staging, other: 1 }',
      says: 'is given the input "other", which its spec does not declare',
    },
  ])('$inputs are refused, as GitLab does: $says', ({ inputs, says }) => {
    const files = {
      '.gitlab-ci.yml': `include: [{ local: deploy.yml, inputs: ${inputs} }]\nj: { script: x }`,
      'deploy.yml': DEPLOY,
    };
    expect(() => expanded(files)).toThrow(says);
  });

  test('a block of another name is refused', () => {
    const text = 'spec: { inputs: { at: { default: a } } }\n---\nj: { script: "$[[ inputs.gone ]]" }';
    expect(() => expanded(text)).toThrow('$[[ inputs.gone ]] is none of its inputs; expected at');
  });

  const image = (spec: string, block: string, inputs: Readonly<Record<string, string>> = {}) =>
    jobNamed(
      expanded(`spec: { inputs: { ${spec} } }\n---\nj: { script: x, image: ${block} }`, { inputs }),
      'j',
    ).image;

  test.each([
    { block: 'a:$[[ inputs.at | truncate(1, 2) ]]', becomes: 'a:el' },
    { block: "a:$[[ inputs.at | split(',') ]]", says: "the function split(',') is not read" },
    { block: 'a:$[[ inputs.at | truncate(-3, 2) ]]', says: 'is not read' },
    { block: 'a:$[[ component.version ]]', says: 'only GitLab knows' },
  ])('$block is what GitLab makes of it, or is refused', ({ block, becomes, says }) => {
    const spec = 'at: { default: hello }';
    if (says === undefined) expect(image(spec, `"${block}"`)).toBe(becomes);
    else expect(() => image(spec, block)).toThrow(says);
  });

  test('of another file are refused, because they are not read', () => {
    const text = 'spec: { include: [{ local: inputs.yml }] }\n---\nj: { script: x }';
    expect(() => expanded(text)).toThrow('.gitlab-ci.yml: spec:include takes inputs from other files');
  });
});
