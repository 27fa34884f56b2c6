/** Public exports of this folder; its README lists its promises. */

export {
  CALLBACK_PATH,
  isAddressRange,
  ownAddress,
  readSignInConfig,
  type SignInConfig,
  visitorAddress,
} from './config.ts';
export { createSignIn, type SignIn } from './create-sign-in.ts';
export { dynamoSessionStore, dynamoUserSessions, type UserSessions } from './dynamo-session-store.ts';
export { gitlabRoles } from './gitlab-roles.ts';
export type { Roles, SessionStore, SignInEnv, User } from './model.ts';
export type { RenderNotice, SignInNotice } from './require-user.ts';
export { pageHeaders, rateLimit } from './require-user.ts';
export { type OwnSessionRow, type OwnSessions, ownSessions, Sessions } from './sessions.ts';
