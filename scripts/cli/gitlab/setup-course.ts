import type { AdminController } from '../../../functions/core/gitlab/index.ts';
import { controllerStep } from './controller-step.ts';
import { hooksStep } from './hooks-step.ts';
import { instanceStep } from './instance-step.ts';
import { scopeStep } from './scope-step.ts';
import type { SetupCourse, SetupLine, SetupMode } from './setup-line.ts';
import { tokenStep } from './token-step.ts';

/** Result of the set-up, part by part, with dependencies. */
export interface SetupReport {
  readonly mode: SetupMode;
  readonly lines: readonly SetupLine[];
  /** E.g. `19.4.0-ee`; undefined: GitLab did not say. */
  readonly version: string | undefined;
  readonly routerUrl: string | undefined;
  /** The version of GitLab's agent server: it names the descriptors. */
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
