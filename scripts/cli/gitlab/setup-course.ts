import type { AdminController, GitLabAdministration } from '../../../functions/core/gitlab/index.ts';
import { controllerStep } from './controller-step.ts';
import { type HookWish, hooksStep } from './hooks-step.ts';
import { instanceStep } from './instance-step.ts';
import { type ScopeWish, scopeStep } from './scope-step.ts';
import type { SecretStore } from './secret-text.ts';
import type { SetupLine, SetupMode } from './setup-line.ts';
import { tokenStep } from './token-step.ts';

/** What a set-up is about. */
export interface SetupCourse {
  readonly gitlab: GitLabAdministration;
  readonly store: SecretStore;
  readonly mode: SetupMode;
  /** The controller's description, and the webhooks' name. */
  readonly name: string;
  /** By number, where the description does not say which. */
  readonly controllerId: number | undefined;
  readonly scope: ScopeWish;
  readonly hooks: HookWish;
  /** Some runner's: it asks GitLab where runners are sent. */
  readonly runnerToken: string | undefined;
  readonly nowMs: () => number;
  /** So many of so many groups are looked at. */
  readonly progress: (done: number, of: number) => void;
}

/** What is set up, part by part, and what depends on it. */
export interface SetupReport {
  readonly mode: SetupMode;
  readonly lines: readonly SetupLine[];
  /** E.g. `19.4.0-ee`; undefined: GitLab did not say. */
  readonly version: string | undefined;
  readonly routerUrl: string | undefined;
  /** Of GitLab's agent server: names the descriptors. */
  readonly kasVersion: string | undefined;
  readonly controller: AdminController | undefined;
}

/** Goes through all parts in an order in which none needs a later one; a part that is refused stops what needs it. */
export async function setupCourse(course: SetupCourse): Promise<SetupReport> {
  const instance = await instanceStep(course);
  const lines = [...instance.lines];
  const found = instance.mayGoOn ? await controllerStep(course) : undefined;
  if (found !== undefined) lines.push(found.line);
  const controller = found?.controller;
  if (instance.mayGoOn && found?.mayGoOn === true) {
    lines.push(...(await tokenStep(course, controller)));
    lines.push(...(await scopeStep(course, controller)));
  }
  if (instance.mayGoOn) lines.push(...(await hooksStep(course, instance.signs)));
  const { version, routerUrl, kasVersion } = instance;
  return { mode: course.mode, lines, version, routerUrl, kasVersion, controller };
}
