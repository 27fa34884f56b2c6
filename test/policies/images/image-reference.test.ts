import { expect, test } from 'vitest';
import { meetsTagRule, readImageReference } from '../../../policies/images/image-judge.ts';

const SHA256 = `sha256:${'0123456789abcdef'.repeat(4)}`;

test.each<[string, string]>([
  ['Ruby:3', 'large letters in the name'],
  ['ruby:', 'an empty tag'],
  ['a//b', 'an empty part'],
  ['a:1:2', 'two tags'],
  ['ruby :3', 'a blank'],
  [`ruby:${'x'.repeat(129)}`, 'a tag of 129 characters'],
  [`ruby@${SHA256.slice(0, -1)}`, 'a digest that is cut short'],
  [`ruby@sha512:${'0'.repeat(64)}`, 'a digest of another algorithm'],
  [`ruby@${SHA256}@${SHA256}`, 'two digests'],
  ['ruby:${TAG', 'a variable that is not closed'],
])('%s is no reference: %s', (text) => {
  expect(readImageReference(text)).toBeUndefined();
  expect(meetsTagRule(text, 'fixed')).toBe(false);
  expect(meetsTagRule(text, 'digest')).toBe(false);
});

test.each<[string, boolean, boolean, string]>([
  ['ruby', false, false, 'no tag means latest'],
  ['ruby:latest', false, false, 'latest floats'],
  ['ruby:3.2', true, false, 'a tag is fixed, but may be moved'],
  [`ruby:latest@${SHA256}`, true, true, 'not even beside latest'],
  [`ruby@future+x:${'Z'.repeat(43)}`, true, true, 'of an unknown algorithm the shape is enough'],
  ['ruby:$TAG', false, false, 'a tag that is a variable may become latest'],
  ['$CI_IMAGE', false, false, 'a variable alone may become anything'],
  ['$REGISTRY/ruby:3.2', true, false, 'nor takes one away'],
  [`\${CI_IMAGE}@${SHA256}`, true, true, 'a digest holds whatever stands before it'],
])('%s is fixed: %s, pinned: %s: %s', (image, fixed, pinned) => {
  expect(meetsTagRule(image, 'fixed')).toBe(fixed);
  expect(meetsTagRule(image, 'digest')).toBe(pinned);
});
