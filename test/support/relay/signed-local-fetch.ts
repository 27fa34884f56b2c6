import { signedFetch } from '../../../relay/aws/signed-fetch.ts';

/** As relays call DynamoDB by hand, for the local one. */
export const signedLocalFetch = () =>
  signedFetch({
    fetch,
    credentials: async () => ({ accessKeyId: 'local', secretAccessKey: 'local' }),
    region: 'local',
    service: 'dynamodb',
    nowMs: () => Date.now(),
  });
