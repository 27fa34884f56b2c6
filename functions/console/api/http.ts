import { NO_SET } from '../../core/limits/subject-text.ts';

export const API_PATH = '/api/v1';

export const formatEtag = (set: string | undefined): string => `"${set ?? NO_SET}"`;
