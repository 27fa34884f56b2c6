import { expect, test } from 'vitest';
import { TEXT_LENGTH_MAX } from '../../../relay/translate/text-length.ts';
import { compileTranslator } from '../../../relay/translate/translator.ts';
import { descOf, messageFrom } from '../../support/relay/desc-of.ts';

const SHAPE = {
  id: 'int64',
  variables: [{ key: 'string', value: 'string', public: 'bool', file: 'bool', masked: 'bool' }],
  image: { name: 'string', executor_opts: { kubernetes: { user: 'string' }, docker: { user: 'string' } } },
  services: [{ name: 'string', executor_opts: { docker: { user: 'string' } } }],
} as const;
const VARIABLES = [
  { key: 'REGISTRY', value: 'registry.example.com', public: true },
  { key: 'TAG', value: '1.0', public: true },
  { key: 'TAG', value: '1.1' },
  { key: 'EMPTY', value: '', public: true },
  { key: 'DEPLOY_KEY', value: 'a-secret', masked: true },
  { key: 'KUBECONFIG', value: 'a-secret', file: true },
  { key: 'UID_OF_BUILD', value: '1000' },
  { key: 'LONG', value: 'x'.repeat(TEXT_LENGTH_MAX) },
];

function requestOf(json: Record<string, unknown>) {
  const desc = descOf(SHAPE);
  const translate = compileTranslator(desc, {
    variables: { names: [], prefixes: [] },
    trustVariables: false,
  });
  const translation = translate(messageFrom(desc, { id: '7', variables: VARIABLES, ...json }));
  if (!translation.ok) throw new Error(translation.problem);
  return translation.request;
}
const imageOf = (name: string): string | undefined => requestOf({ image: { name } }).image;

test.each([
  ['alpine:3', 'alpine:3'],
  ['$REGISTRY/go:$TAG', 'registry.example.com/go:1.1'],
  ['$$REGISTRY/$TAG', 'registry.example.com/1.1'],
  ['$1/x', '/x'],
  ['$TAG'.repeat(21), '1.1'.repeat(21)],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: GitLab's own way to write a variable
  ['${REGISTRY}/go${EMPTY}:${TAG}-x', 'registry.example.com/go:1.1-x'],
])('%s is judged as %s, as the runner will read it', (written, judged) => {
  expect(imageOf(written)).toBe(judged);
});

test.each([
  ['a masked variable', 'x/$DEPLOY_KEY'],
  ['a file', 'x/$KUBECONFIG'],
  ['one that did not come', '$NOWHERE/x'],
  ['a text that would grow too long', 'x/$LONG'],
  ['an input', 'x/${' + '{ job.inputs.tag }}'],
  ['what the runner sets itself', 'x/$CI_RUNNER_VERSION'],
])('%s is left as it is written: %s', (_, written) => {
  expect(imageOf(written)).toBe(written);
});

test('an image that becomes empty is none: the runner takes its own', () => {
  expect(imageOf('$EMPTY')).toBeUndefined();
});

test('services and users are expanded, too', () => {
  const request = requestOf({
    image: { name: 'a', executor_opts: { kubernetes: { user: '$UID_OF_BUILD:$UID_OF_BUILD' } } },
    services: [{ name: '$REGISTRY/pg', executor_opts: { docker: { user: '$UID_OF_BUILD' } } }],
  });
  expect(request.kubernetesUser).toBe('1000:1000');
  expect(request.services).toEqual([{ name: 'registry.example.com/pg', dockerUser: '1000' }]);
});

test('no variable leaves the relay for having been put in', () => {
  const request = requestOf({ image: { name: '$REGISTRY/$DEPLOY_KEY' } });
  expect(request.variables).toEqual({});
  expect(JSON.stringify(request)).not.toContain('a-secret');
});

test('where a schema cannot say what is masked, only public variables are put in', () => {
  const desc = descOf({
    id: 'int64',
    variables: [{ key: 'string', value: 'string', public: 'bool' }],
    image: { name: 'string' },
    services: [{ name: 'string' }],
  });
  const translate = compileTranslator(desc, {
    variables: { names: [], prefixes: [] },
    trustVariables: false,
  });
  const translation = translate(
    messageFrom(desc, {
      id: '7',
      variables: VARIABLES.slice(0, 3),
      image: { name: '$REGISTRY/go' },
      services: [{ name: '$REGISTRY/$TAG' }],
    }),
  );
  expect(translation).toMatchObject({
    ok: true,
    request: { image: 'registry.example.com/go', services: [{ name: '$REGISTRY/$TAG' }] },
  });
});

test('of two variables with one name the later counts, also when it may not be looked at', () => {
  const shown = { key: 'TOOL', value: 'go', public: true };
  const masked = { key: 'TOOL', value: 'a-secret', masked: true };
  const imageWith = (...variables: readonly object[]) =>
    requestOf({ image: { name: 'x/$TOOL' }, variables: [...variables] }).image;
  expect(imageWith(shown, masked)).toBe('x/$TOOL');
  expect(imageWith(masked, shown)).toBe('x/go');
});
