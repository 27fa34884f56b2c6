/** Values that GitLab would have and nobody here reads: the same for the same job. */

/** `web-shop` → `Web shop`: a display name, which is no path. */
export const projectName = (segment: string): string => {
  const words = segment.replace(/[-_.]+/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

export const shaOf = (pipelineId: number): string => pipelineId.toString(16).padStart(40, 'c');

export const userName = (userId: number): string => `User ${userId}`;
