import { expect, test } from 'vitest';
import {
  type ImageReference,
  meetsTagRule,
  readImageReference,
} from '../../../policies/images/image-reference.ts';

const SHA256 = `sha256:${'0123456789abcdef'.repeat(4)}`;
const SHA512 = `sha512:${'0123456789abcdef'.repeat(8)}`;

test.each<[string, ImageReference, string]>([
  ['ruby', { name: 'ruby' }, 'a name alone has no tag'],
  ['ruby:3.2', { name: 'ruby', tag: '3.2' }, 'what follows the last colon is the tag'],
  ['host:5000/a', { name: 'host:5000/a' }, 'a colon before a slash is a port'],
  ['host:5000/a:5000', { name: 'host:5000/a', tag: '5000' }, 'a port and a tag are told apart'],
  ['host:5000', { name: 'host', tag: '5000' }, 'without a path there is no port'],
  ['localhost/a:1', { name: 'localhost/a', tag: '1' }, 'localhost is a registry'],
  ['[::1]:5000/a/b:1', { name: '[::1]:5000/a/b', tag: '1' }, 'a registry may be an address'],
  ['REG.Example.com/a:1', { name: 'REG.Example.com/a', tag: '1' }, 'a registry may have large letters'],
  ['HOST/a:RC-1', { name: 'HOST/a', tag: 'RC-1' }, 'large letters make the first part a registry'],
  ['a/b__c/d.e-f---g:_x', { name: 'a/b__c/d.e-f---g', tag: '_x' }, 'separators within a name are its own'],
  [`ruby@${SHA256}`, { name: 'ruby', digest: SHA256 }, 'a digest may stand alone'],
  [`host:5000/a:1@${SHA512}`, { name: 'host:5000/a', tag: '1', digest: SHA512 }, 'or beside a tag'],
  ['$REG/ruby:$TAG', { name: '$REG/ruby', tag: '$TAG' }, 'a variable stays as written'],
  [`\${REG}:\${PORT}/ruby:1`, { name: `\${REG}:\${PORT}/ruby`, tag: '1' }, 'in a port, too'],
])('%s: %j: %s', (text, reference) => {
  expect(readImageReference(text)).toEqual(reference);
});

test.each<[string, string]>([
  ['', 'nothing'],
  ['Ruby:3', 'large letters in the name'],
  ['host.example.com/Ruby:3', 'large letters after the registry'],
  ['ruby:', 'an empty tag'],
  [':3', 'an empty name'],
  ['a//b', 'an empty part'],
  ['/a', 'an empty registry'],
  ['host:5000/', 'an empty path'],
  ['a:1:2', 'two tags'],
  ['host:port/a', 'a port that is no number'],
  ['-a', 'a separator at an edge'],
  ['a..b', 'two separators that do not belong together'],
  ['ruby :3', 'a blank'],
  [`ruby:${'x'.repeat(129)}`, 'a tag of 129 characters'],
  [`${'a/'.repeat(128)}a`, 'a name of 257 characters'],
  ['ruby@', 'an empty digest'],
  ['ruby@sha256:', 'an algorithm without a digest'],
  [`ruby@${SHA256.slice(0, -1)}`, 'a digest that is cut short'],
  [`ruby@${SHA256}0`, 'a digest that is too long'],
  [`ruby@${SHA256.toUpperCase()}`, 'a digest in large letters'],
  [`ruby@sha256:${'g'.repeat(64)}`, 'a digest that is not hexadecimal'],
  [`ruby@sha512:${'0'.repeat(64)}`, 'a digest of another algorithm'],
  [`ruby@${SHA256}@${SHA256}`, 'two digests'],
  ['ruby@$DIGEST', 'a digest that is not written out'],
  ['100%ruby', 'a character no reference has'],
  ['ruby:${TAG', 'a variable that is not closed'],
  [`ruby$@${SHA256}`, 'a dollar that takes the @ away when expanded'],
  ['ruby:$1', 'a dollar before a digit'],
])('%s is no reference: %s', (text) => {
  expect(readImageReference(text)).toBeUndefined();
  expect(meetsTagRule(text, 'fixed')).toBe(false);
  expect(meetsTagRule(text, 'digest')).toBe(false);
});

test.each<[string, boolean, boolean, string]>([
  ['ruby', false, false, 'no tag means latest'],
  ['host:5000/ruby', false, false, 'a port is no tag'],
  ['ruby:latest', false, false, 'latest floats'],
  ['ruby:LATEST', false, false, 'however it is written'],
  ['ruby:latest-3', true, false, 'another tag with latest in it is another tag'],
  ['ruby:3.2', true, false, 'a tag is fixed, but may be moved'],
  [`ruby@${SHA256}`, true, true, 'a digest cannot float'],
  [`ruby:latest@${SHA256}`, true, true, 'not even beside latest'],
  [`ruby@${SHA512}`, true, true, 'whatever its algorithm'],
  [`ruby@future+x:${'Z'.repeat(43)}`, true, true, 'of an unknown algorithm the shape is enough'],
  [`ruby@future:${'Z'.repeat(31)}`, false, false, 'but it must be long enough to be one'],
  ['ruby:$TAG', false, false, 'a tag that is a variable may become latest'],
  ['ruby:late$ST', false, false, 'or a part of it'],
  [`ruby:3\${X}`, false, false, 'what a variable adds may begin a path'],
  ['$CI_IMAGE', false, false, 'a variable alone may become anything'],
  ['$REGISTRY/ruby', false, false, 'a variable before the name brings no tag'],
  ['$REGISTRY/ruby:3.2', true, false, 'nor takes one away'],
  [`\${CI_IMAGE}@${SHA256}`, true, true, 'a digest holds whatever stands before it'],
  [`ruby:$TAG@${SHA256}`, true, true, 'also beside a variable'],
])('%s is fixed: %s, pinned: %s: %s', (image, fixed, pinned) => {
  expect(meetsTagRule(image, 'fixed')).toBe(fixed);
  expect(meetsTagRule(image, 'digest')).toBe(pinned);
});

test('a text of any length is read in bounded time', () => {
  for (const text of ['a'.repeat(4_096), 'a-'.repeat(2_048), `${'a.'.repeat(500)}:1`, '$'.repeat(1_024)])
    expect(readImageReference(text)).toBeUndefined();
});
