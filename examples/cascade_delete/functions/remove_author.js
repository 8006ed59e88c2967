// When an author goes, so does what the author wrote. SQL++ stands in the code as it is; `$author`
// is the variable of that name. All of it is one commit: nobody sees half of it.
function OnDelete(meta) {
  const author = meta.id;
  let posts = 0;
  for (const row of SELECT COUNT(*) AS n FROM blog.content.posts WHERE author = $author) posts = row.n;
  DELETE FROM blog.content.posts WHERE author = $author;
  DELETE FROM blog.content.comments WHERE author = $author;
  removed[author] = { posts, at: new Date().toISOString() };
}
