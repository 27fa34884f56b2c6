import type {
  AdminAnswer,
  AdminController,
  GitLabAdministration,
} from '../../../functions/core/gitlab/index.ts';
import { notThere, refused, type SetupCourse, type SetupLine } from './setup-line.ts';
import { whileUnsure } from './while-unsure.ts';

interface ControllerReading {
  readonly line: SetupLine;
  /** Undefined: there is none yet. */
  readonly controller: AdminController | undefined;
  readonly mayGoOn: boolean;
}

/** Finds the controller by number or description. An adopted one keeps its state. */
export async function controllerStep(course: SetupCourse): Promise<ControllerReading> {
  const { gitlab, mode, name } = course;
  const part = 'controller';
  const found = await namedControllers(gitlab, course);
  if (!found.ok) return { line: refused(part, found.refusal), controller: undefined, mayGoOn: false };
  const [first, ...others] = found.value;
  if (others.length > 0) {
    const ids = found.value.map(({ id }) => id).join(', ');
    const says = `GitLab has several controllers called "${name}": ${ids}`;
    const remedy = 'say which with --controller';
    return { line: { part, standing: 'wrong', says, remedy }, controller: undefined, mayGoOn: false };
  }
  if (first !== undefined) {
    const says = `controller ${first.id} "${first.description}" is ${first.state}`;
    // The list does not say whether it is connected.
    const whole = await gitlab.controller(first.id);
    const controller = whole.ok ? whole.value : first;
    return { line: { part, standing: 'right', says }, controller, mayGoOn: true };
  }
  if (mode !== 'change') {
    const line = notThere(
      part,
      mode,
      `would make a controller "${name}" in dry_run`,
      `there is no controller "${name}"`,
    );
    return { line, controller: undefined, mayGoOn: true };
  }
  const made = await whileUnsure(
    async () => {
      const now = await namedControllers(gitlab, course);
      return now.ok ? { ok: true, value: now.value[0] } : now;
    },
    () => gitlab.createController(name),
  );
  if (!made.ok) return { line: refused(part, made.refusal), controller: undefined, mayGoOn: false };
  const { id, state } = made.value;
  const says = `made controller ${id} "${name}": ${state}`;
  return { line: { part, standing: 'done', says }, controller: made.value, mayGoOn: true };
}

/** @param asked - the number wins over the description. */
export async function namedControllers(
  gitlab: GitLabAdministration,
  asked: { readonly name: string; readonly controllerId: number | undefined },
): Promise<AdminAnswer<readonly AdminController[]>> {
  const { name, controllerId } = asked;
  if (controllerId === undefined) {
    const all = await gitlab.controllers();
    return all.ok ? { ok: true, value: all.value.filter(({ description }) => description === name) } : all;
  }
  const one = await gitlab.controller(controllerId);
  return one.ok ? { ok: true, value: [one.value] } : one;
}
