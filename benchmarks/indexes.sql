-- Run once the rows are in.
CREATE INDEX blog_post_status_created ON blog_post (status, created_at DESC, id DESC);
CREATE INDEX blog_post_created        ON blog_post (created_at DESC, id DESC);
CREATE INDEX blog_post_author         ON blog_post (author_id);
CREATE INDEX blog_comment_post        ON blog_comment (post_id, id);
CREATE INDEX blog_comment_author      ON blog_comment (author_id);

ALTER TABLE blog_post    ADD CONSTRAINT blog_post_status_ck CHECK (status IN ('draft', 'published'));
ALTER TABLE blog_post    ADD CONSTRAINT blog_post_author_fk    FOREIGN KEY (author_id) REFERENCES blog_author (id);
ALTER TABLE blog_comment ADD CONSTRAINT blog_comment_author_fk FOREIGN KEY (author_id) REFERENCES blog_author (id);
ALTER TABLE blog_comment ADD CONSTRAINT blog_comment_post_fk   FOREIGN KEY (post_id)   REFERENCES blog_post (id);

-- PostGraphile names types after tables: map them to the common names. The other peers ignore this.
COMMENT ON TABLE blog_author  IS E'@name author';
COMMENT ON TABLE blog_post    IS E'@name post';
COMMENT ON TABLE blog_comment IS E'@name comment';
