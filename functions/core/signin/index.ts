/** Public exports of this folder; its README lists its promises. */
export type { RenderNotice, SignInNotice } from './answers.ts';
export { readSignInConfig, type SignInConfig } from './config.ts';
export { createSignIn, type SignIn } from './create-sign-in.ts';
export { dynamoSessionStore } from './dynamo-session-store.ts';
export { dynamoUserSessions, type UserSessions } from './dynamo-user-sessions.ts';
export { gitlabRoles } from './gitlab-roles.ts';
export { CALLBACK_PATH, ownAddress } from './own-address.ts';
export { type OwnSessionRow, type OwnSessions, ownSessions } from './own-sessions.ts';
export { pageHeaders } from './page-headers.ts';
export { rateLimit } from './rate-limit.ts';
export type { SessionStore } from './session-store.ts';
export { Sessions } from './sessions.ts';
export type { Roles, SignInEnv, User } from './user.ts';
export { isAddressRange, visitorAddress } from './visitor-address.ts';
