/** Formats of text settings. */
import { isIP } from 'node:net';
import type { TextShape } from './section.ts';

const matching = (pattern: RegExp, expected: string): TextShape => ({
  fits: (text) => pattern.test(text),
  expected,
});

/** Stands in names that AWS bounds to 64 characters, and in parameter paths. */
export const STAGE = matching(
  /^[a-z][a-z0-9-]{0,19}$/,
  'up to 20 lower case letters, digits and "-", such as prod',
);
export const ACCOUNT = matching(/^\d{12}$/, 'the 12 digits of an account, in quotes');
export const REGION = matching(/^[a-z]{2,4}(-[a-z]+)+-\d+$/, 'a region such as eu-central-1');
export const GITLAB_URL: TextShape = {
  fits: (text) => {
    const url = URL.parse(text);
    return url?.protocol === 'https:' && url.origin === text;
  },
  expected: 'GitLab\'s address without a path or a "/" at the end, such as https://gitlab.example.com',
};
export const DESCRIPTORS: TextShape = {
  fits: (text) => text !== '' && !text.includes('\0'),
  expected:
    "the file with your GitLab's field numbers, such as relay/wire/gitlab.binpb, made by: npm run proto:sync -- --ref v18.9.0",
};
export const CONSOLE_URL: TextShape = {
  fits: GITLAB_URL.fits,
  expected: 'an https:// address without a path or a "/" at the end, such as https://budget.example.com',
};
export const ADDRESS_RANGE: TextShape = {
  fits: (text) => {
    const [address = '', bits, ...more] = text.split('/');
    const version = isIP(address);
    if (version === 0 || more.length > 0) return false;
    return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32));
  },
  expected: 'an address or a range such as 10.0.0.0/8',
};
export const CLIENT_ID = matching(
  /^[\w-]{1,128}$/,
  'the application id that GitLab shows for it, letters and digits',
);
export const INSTANCE = matching(
  /^[A-Za-z0-9.:-]{1,100}$/,
  'a host name such as gitlab.example.com; it begins every key of the table',
);
export const ROUTER_URL: TextShape = {
  fits: (text) => {
    const url = URL.parse(text);
    return (
      url !== null &&
      /^(?:wss|grpcs):$/.test(url.protocol) &&
      url.hostname !== '' &&
      `${url.username}${url.password}${url.search}${url.hash}` === ''
    );
  },
  expected: 'wss:// or grpcs:// and the host of the job router, such as wss://kas.gitlab.example.com',
};
/** From a /16 to a /26: two subnets must have room for a task while its successor starts. */
export const CIDR: TextShape = {
  fits: (text) => {
    const [address = '', bits = ''] = text.split('/');
    const parts = address.split('.');
    return (
      parts.length === 4 &&
      parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255) &&
      /^(?:1[6-9]|2[0-6])$/.test(bits)
    );
  },
  expected: 'an IPv4 range between /16 and /26, such as 10.83.0.0/24',
};
export const VPC_ID = matching(/^vpc-[0-9a-f]{8,17}$/, 'the id of a VPC, such as vpc-0a1b2c3d4e5f60718');
export const SUBNET_ID = matching(
  /^subnet-[0-9a-f]{8,17}$/,
  'the id of a subnet, such as subnet-0a1b2c3d4e5f60718',
);
export const ZONE_NAME = matching(
  /^[a-z]{2,4}(-[a-z]+)+-\d+[a-z]$/,
  'an availability zone such as eu-central-1a',
);
export const IMAGE = matching(
  /^[\w.-]+(?::\d+)?(?:\/[\w.-]+)+(?::[\w.-]+@sha256:[0-9a-f]{64}|@sha256:[0-9a-f]{64}|:[\w.-]+)$/,
  'registry/name with a tag or, better, a digest, such as registry.example.com/tollgate/relay@sha256:…',
);
export const PROXY_URL: TextShape = {
  fits: (text) => {
    const url = URL.parse(text);
    return url !== null && /^https?:$/.test(url.protocol) && `${url.username}${url.password}` === '';
  },
  expected: 'http:// or https:// and a host, without a password, such as http://proxy.example.com:3128',
};
export const PARAMETER = matching(
  /^(?:\/(?!aws\b|ssm\b)[\w.-]+)(?:\/[\w.-]+){0,14}$/,
  'the name of an SSM parameter, beginning with "/", such as /tollgate/prod/router-token',
);
export const KEY_ARN = matching(
  /^arn:[\w-]+:kms:[\w-]+:\d{12}:key\/[\w-]+$/,
  'the ARN of a KMS key, such as arn:aws:kms:eu-central-1:111122223333:key/…',
);
export const TOPIC_ARN = matching(
  /^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w-]+$/,
  'the ARN of an SNS topic, such as arn:aws:sns:eu-central-1:111122223333:on-call',
);
export const EMAIL = matching(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'an e-mail address');
export const WEBHOOK_URL: TextShape = {
  fits: (text) => URL.parse(text)?.protocol === 'https:',
  expected: 'an address that begins with https://',
};
export const TIME_ZONE: TextShape = {
  fits: (text) => {
    try {
      return new Intl.DateTimeFormat('en', { timeZone: text }) !== undefined;
    } catch {
      return false;
    }
  },
  expected: 'an IANA zone such as Europe/Berlin',
};
