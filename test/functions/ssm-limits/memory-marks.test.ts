import { MemoryMarks } from '../../../functions/ssm-limits/memory-marks.ts';
import { marksContract } from './marks-contract.ts';

marksContract(() => new MemoryMarks());
