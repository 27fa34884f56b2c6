/** `npm start` signs in with the same one. */
export {
  type GitLabMembership,
  type GitLabUser,
  type SignInGitLab,
  type SignInGitLabOptions,
  startSignInGitLab,
} from '../../scripts/local/sign-in-gitlab.ts';
