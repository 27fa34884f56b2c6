import { nearestPatterns } from './nearest-patterns.ts';
import type { Reason } from './reason.ts';
import { remembering } from './remember.ts';
import type { Wildcard } from './wildcard.ts';

/**
 * What an image rule says of an image. An empty `allow` allows everything that is not denied; `deny` wins over it. The
 * text is compared as GitLab sent it, before the runner expands variables: what `$CI_IMAGE` will be is not known.
 */
export const imageJudge = (
  allow: readonly Wildcard[],
  deny: readonly Wildcard[],
): ((image: string) => Reason | undefined) => {
  const patterns = allow.map((each) => each.pattern);
  return remembering((image) => {
    const denied = deny.find((each) => each.matches(image));
    if (denied === undefined && (allow.length === 0 || allow.some((each) => each.matches(image))))
      return undefined;
    const allowed = nearestPatterns(image, patterns);
    return {
      code: 'IMAGE_NOT_ALLOWED',
      image,
      allowed,
      ...(denied !== undefined && { denied: denied.pattern }),
    };
  });
};
