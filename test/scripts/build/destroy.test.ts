import { expect, test } from 'vitest';
import { stackNames } from '../../../cdk/settings/deployment.ts';
import { destroy, gitLabToken, readArmedState, readDestroyOptions } from '../../../scripts/build/destroy.ts';
import { createRunnerControllers } from '../../../scripts/cli/controller/controller-command.ts';
import { type FakeController, fakeRunnerControllers } from '../../support/fake-runner-controllers.ts';

const [STATE, FUNCTIONS, RELAYS] = stackNames('prod');
const ENABLED: FakeController = { id: 7, description: 'tollgate', state: 'enabled', connected: true };
const OTHER: FakeController = { ...ENABLED, id: 8, state: 'dry_run' };

interface Given {
  readonly controllers?: readonly FakeController[];
  readonly controllerId?: number;
  readonly silent?: boolean;
  readonly withState?: boolean;
  readonly forced?: boolean;
  /** The person at the terminal says no. */
  readonly declined?: boolean;
}

/** Three stacks that are protected, and a CDK command line that deletes what is not. */
async function destroyed(given: Given) {
  const stacks = new Map<string, boolean>([
    [RELAYS, true],
    [FUNCTIONS, true],
    [STATE, true],
  ]);
  const gitlab = fakeRunnerControllers(given.controllers ?? [OTHER]);
  if (given.silent === true) gitlab.goSilent();
  const token = async (): Promise<string> => 'glpat-secret';
  const controllers = createRunnerControllers({
    baseUrl: 'https://gitlab.example.com',
    token,
    ...gitlab.deps,
  });
  const told: string[] = [];
  const code = await destroy({
    stage: 'prod',
    gitlabUrl: 'https://gitlab.example.com',
    withState: given.withState ?? false,
    readArmedState: given.forced === true ? undefined : () => readArmedState(controllers, given.controllerId),
    protect: async (stack, on) => stacks.has(stack) && stacks.set(stack, on) === stacks,
    cdkDestroy: async (path) => {
      const stack = path.replace('/', '-');
      if (given.declined === true || stacks.get(stack) !== false) return { code: 1 };
      stacks.delete(stack);
      return { code: 0 };
    },
    tell: (text) => told.push(text),
  });
  return { code, left: Object.fromEntries(stacks), told: told.join('\n') };
}

const ALL = { [RELAYS]: true, [FUNCTIONS]: true, [STATE]: true };

test('while the controller is enabled nothing is destroyed, and the command that disarms it is told', async () => {
  const { code, left, told } = await destroyed({ controllers: [ENABLED], controllerId: 7 });
  expect({ code, left }).toEqual({ code: 2, left: ALL });
  expect(told).toContain(
    'npx tollgate controller dry-run --gitlab https://gitlab.example.com --token-file <file> --controller 7',
  );
});

test.each<{ guarantee: string; given: Given }>([
  { guarantee: 'GitLab does not answer', given: { silent: true, controllerId: 7 } },
  { guarantee: 'GitLab does not know the controller', given: { controllers: [OTHER], controllerId: 7 } },
])('while $guarantee nothing is destroyed', async ({ given }) => {
  const { code, left, told } = await destroyed(given);
  expect({ code, left }).toEqual({ code: 1, left: ALL });
  expect(told).toContain('--without-asking-gitlab');
});

test('while nobody said which controller is ours, any that is enabled keeps everything', async () => {
  expect(await destroyed({ controllers: [OTHER, ENABLED] })).toMatchObject({ code: 2, left: ALL });
  expect(await destroyed({ controllers: [OTHER, ENABLED], controllerId: 8 })).toMatchObject({ code: 0 });
});

test('the stack of the books goes only where that was said, after the others', async () => {
  expect(await destroyed({})).toMatchObject({ code: 0, left: { [STATE]: true } });
  expect(await destroyed({ withState: true })).toMatchObject({ code: 0, left: {} });
});

test('who answers no leaves the stack as protected as it was', async () => {
  expect(await destroyed({ declined: true })).toMatchObject({ code: 1, left: ALL });
});

test('a token is looked for in SSM where no file is named', async () => {
  const read = async (name: string) => {
    if (name === '/a') throw new Error('ParameterNotFound');
    return 'glpat-b\n';
  };
  expect(await gitLabToken(undefined, ['/a', '/b'], read)).toBe('glpat-b');
});

test('a misspelt flag destroys nothing: it is refused', () => {
  expect(() => readDestroyOptions(['--with-stat'])).toThrow('did you mean --with-state?');
});
