import type { Rules } from '../../functions/core/admission/index.ts';
import { timeoutEstimator } from '../../policies/estimate.ts';
import { readDirectory, readLimits, readPolicy } from '../policy/read-documents.ts';

/** Reads the three documents. @throws {DocumentError} listing every problem as `file:line:col path: message`. */
export function readLocalRules(files: {
  readonly policyFile: string;
  readonly limitsFile: string;
  readonly directoryFile: string | undefined;
}): Rules {
  const policy = readPolicy(files.policyFile);
  const directory = files.directoryFile === undefined ? undefined : readDirectory(files.directoryFile);
  return {
    policy,
    limits: readLimits(files.limitsFile, policy, directory),
    directory,
    estimator: timeoutEstimator,
  };
}
