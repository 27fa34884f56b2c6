import { STATUS } from './router.ts';

/** Why the last WebSocket dial did not become a tunnel. */
export type DialFailure =
  /** The server (or a proxy before it) answered the upgrade with another HTTP status. */
  | { readonly kind: 'http'; readonly httpStatus: number }
  | { readonly kind: 'token'; readonly message: string }
  | { readonly kind: 'network'; readonly code: string; readonly message: string };

/** A failed dial as the status of the calls that waited for it, with what an operator can do. */
export function explainDialFailure(failure: DialFailure): {
  readonly code: number;
  readonly details: string;
} {
  switch (failure.kind) {
    case 'token':
      return { code: STATUS.UNAUTHENTICATED, details: failure.message };
    case 'http':
      return {
        code: codeOf(failure.httpStatus),
        details: `HTTP ${failure.httpStatus} at the WebSocket upgrade: ${remedyOf(failure.httpStatus)}`,
      };
    case 'network':
      return {
        code: STATUS.UNAVAILABLE,
        details: `WebSocket dial failed: ${failure.message}${tlsRemedy(failure.code)}`,
      };
  }
}

/** The router refused who we are: dialling again soon only fills its log. */
export const isRefusal = (failure: DialFailure): boolean =>
  failure.kind === 'http' && (failure.httpStatus === 401 || failure.httpStatus === 403);

function codeOf(httpStatus: number): number {
  if (httpStatus === 401) return STATUS.UNAUTHENTICATED;
  if (httpStatus === 403) return STATUS.PERMISSION_DENIED;
  if (httpStatus === 404) return STATUS.NOT_FOUND;
  return STATUS.UNAVAILABLE;
}

function remedyOf(httpStatus: number): string {
  switch (httpStatus) {
    case 401:
    case 403:
      return 'the token was refused; check that it belongs to a runner controller and is not revoked';
    case 404:
      return 'nothing answers at this path; check the URL against kas.externalUrl of GET /api/v4/metadata';
    case 407:
      return 'the proxy wants credentials; put them into HTTPS_PROXY';
    case 200:
    case 301:
    case 302:
    case 308:
    case 400:
    case 426:
      return 'this is no WebSocket endpoint; check the URL, and that proxies on the way let upgrades pass';
    default:
      return 'the router or a proxy before it is not ready';
  }
}

const tlsRemedy = (code: string): string =>
  /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/.test(code)
    ? '; if the router uses a private authority, give its certificate with --ca-file or TOLLGATE_CA_FILE'
    : '';
