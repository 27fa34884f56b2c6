import { LIST_LENGTH_MAX } from './text-length.ts';

/** `CI_RUNNER_TAGS`: documented as `a, b`, sent by some versions as `["a","b"]`. Anything else says nothing. */
export function readTags(value: string): readonly string[] | undefined {
  const trimmed = value.trim();
  const tags = trimmed.startsWith('[') ? fromJson(trimmed) : trimmed.split(',').map((tag) => tag.trim());
  const named = tags?.filter((tag) => tag !== '');
  return named === undefined || named.length > LIST_LENGTH_MAX ? undefined : named;
}

function fromJson(text: string): readonly string[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) && parsed.every((tag) => typeof tag === 'string') ? parsed : undefined;
  } catch {
    return undefined;
  }
}
