export const newJob = (id: number) => ({
  id,
  projectId: 42,
  projectPath: 'shop/web-app',
  name: 'unit',
  pipelineId: 900,
  userId: 3,
});
