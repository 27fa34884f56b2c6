/** Loaded into a relay's process before its own code (`node --import`): it forgets every fallback answer it should keep. */
import { UnmeteredQueue } from '../../../relay/unmetered-queue.ts';

UnmeteredQueue.prototype.push = () => [];
