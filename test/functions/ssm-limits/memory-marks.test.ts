import { memoryMarks } from '../../support/tables/memory-marks.ts';
import { marksContract } from './marks-contract.ts';

marksContract(() => memoryMarks());
