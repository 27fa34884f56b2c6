import { getStaticTOMLValue, ParseError, parseTOML } from 'toml-eslint-parser';
import { z } from 'zod';
import { DocumentError } from '../../policy/yaml-document.ts';

/** The Runner takes a single text for a list of one, and an empty list for none. */
const list = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => [value].flat())
  .transform((texts) => (texts.length === 0 ? undefined : texts))
  .optional();

const container = {
  image: z.string().optional(),
  allowed_images: list,
  allowed_services: list,
  allowed_pull_policies: list,
  pull_policy: list,
  allowed_users: list,
};

const runner = z.object({
  name: z.string().default(''),
  /** GitLab's id of the runner; absent or 0 for runners that were registered with an old version. */
  id: z
    .int()
    .nonnegative()
    .transform((id) => id || undefined)
    .optional(),
  executor: z.string().default(''),
  docker: z
    .object({
      ...container,
      user: z.string().optional(),
      services_limit: z.int().optional(),
      services: z.array(z.object({ name: z.string() })).default([]),
    })
    .prefault({}),
  /** All keys, because each overwrite has several of its own. */
  kubernetes: z
    .looseObject({ ...container, helper_image: z.string().optional(), allowed_groups: list })
    .prefault({}),
});

export type RunnerSection = z.infer<typeof runner>;

const config = z.object({ runners: z.array(runner).min(1) });

/** @throws {DocumentError} with the place; nothing of the file is quoted, because it holds tokens. */
export function readRunnerConfig(text: string, file: string): readonly RunnerSection[] {
  const parsed = config.safeParse(tomlValue(text, file));
  if (parsed.success) return parsed.data.runners;
  throw new DocumentError(
    parsed.error.issues.map(({ path, message }) =>
      path.length < 2
        ? `${file}: has no [[runners]]; is it a GitLab Runner's config.toml?`
        : `${file}: ${path.join('.')}: ${message}`,
    ),
  );
}

function tomlValue(text: string, file: string): unknown {
  try {
    return getStaticTOMLValue(parseTOML(text));
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new DocumentError([`${file}:${error.lineNumber}:${error.column + 1} is no TOML from here on`]);
  }
}
