import { expect, test } from 'vitest';
import { parseTarget } from '../../../relay/router/target.ts';

test.each([
  [
    'grpc://kas.example.com',
    { host: 'kas.example.com', port: 80, secure: false, tunnel: false, authority: 'kas.example.com' },
  ],
  [
    'grpc://kas.example.com:8150',
    { port: 8150, authority: 'kas.example.com:8150', url: 'grpc://kas.example.com:8150' },
  ],
  ['grpcs://kas.example.com', { port: 443, secure: true, tunnel: false, path: '' }],
  [
    'ws://127.0.0.1:8154/-/kubernetes-agent/',
    { host: '127.0.0.1', port: 8154, path: '/-/kubernetes-agent/', tunnel: true, secure: false },
  ],
  [
    'wss://kas.example.com',
    { port: 443, secure: true, tunnel: true, path: '', url: 'wss://kas.example.com' },
  ],
  [
    'wss://KAS.example.com:443/',
    { host: 'kas.example.com', port: 443, authority: 'kas.example.com', url: 'wss://kas.example.com' },
  ],
  ['grpcs://[::1]:8150', { host: '::1', port: 8150, authority: '[::1]:8150' }],
])('%s is understood as GitLab Runner does', (text, expected) => {
  expect(parseTarget(text)).toMatchObject(expected);
});

test.each([
  ['https://kas.example.com', 'must begin with grpc://, grpcs://, ws:// or wss://'],
  ['kas.example.com:443', 'must begin with'],
  ['grpc:kas.example.com', 'must begin with'],
  ['wss://', 'is not a URL'],
  ['wss://host:99999', 'is not a URL'],
  ['grpc://host:0', 'has port 0'],
  ['grpcs://host/path', 'has a path, which gRPC has no use for; write grpcs://host'],
  ['wss://user@host', 'carries credentials'],
  ['wss://host?x=1', 'carries a query or fragment'],
  ['wss://host/a#b', 'carries a query or fragment'],
])('%s is refused with its remedy', (text, problem) => {
  expect(() => parseTarget(text)).toThrow(
    expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(problem) }),
  );
});

test.each([
  'wss://user:glrct-secret@host',
  'https://user:glrct-secret@host',
  'wss://host?token=glrct-secret',
  'http://x?glrct-secret',
  'wss://u:glrct-secret@:x',
])('a refused URL is not repeated with the secret in it (%#)', (text) => {
  expect(() => parseTarget(text)).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('secret') }),
  );
});
