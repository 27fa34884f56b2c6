import type { WireSchema } from '../../../relay/wire/schema.ts';
import type { RouterClock } from '../clock/clock.ts';
import type { RegisteredController } from './controllers.ts';
import type { ListenerTlsFiles } from './listeners.ts';
import type { RouterGitLab } from './router-gitlab.ts';

export interface LocalRouterOptions {
  /** @default the built-in descriptors */
  readonly schema?: WireSchema;
  readonly controllers: readonly RegisteredController[];
  /** The GitLab it belongs to: its controllers come on top, and runners may ask for its jobs. @default none */
  readonly gitlab?: RouterGitLab;
  /** @default '127.0.0.1' */
  readonly host?: string;
  /** Port of the gRPC listener, 0 for any free one, `off` for none. @default 0 */
  readonly grpcPort?: number | 'off';
  /** Port of the WebSocket listener, likewise. @default 0 */
  readonly wsPort?: number | 'off';
  /** Makes both listeners speak TLS. */
  readonly tls?: ListenerTlsFiles;
  /** How long a job waits for an idle stream. @default 20_000, GitLab's last known number */
  readonly findTimeoutMs?: number;
  /** How long a job waits for its answer. @default 10_000; GitLab's number is not public */
  readonly decisionTimeoutMs?: number;
  /** Age at which a waiting stream is ended with OK; GitLab's is about 37 min. @default never */
  readonly streamMaxAgeMs?: number;
  /** Age at which a connection gets GOAWAY, by the clock; GitLab's is about 24 min. @default never */
  readonly connectionMaxAgeMs?: number;
  /** Calls that one connection may carry at once, as HTTP/2 announces it; more wait at the client. @default without end */
  readonly callsPerConnectionMax?: number;
  /**
   * When the response headers of AdmitJob go out. A grpc-go server, as GitLab's is, sends them with the first
   * message, so a client cannot see that its stream was accepted. @default 'with_question'
   */
  readonly headers?: 'with_question' | 'at_once';
  /** Refuse questions with keys the schema does not have. @default false: they are left out */
  readonly strict?: boolean;
  /** Allow `stall()`, at the cost of throughput. @default false */
  readonly stallable?: boolean;
  readonly clock?: RouterClock;
  /** [0, 1), chooses among idle streams. @default Math.random */
  readonly random?: () => number;
}
